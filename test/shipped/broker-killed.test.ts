import { expect, test } from "bun:test";
import { killAtRandom } from "../../scripts/trial-programs/kills/broker-killed.ts";
import { mosquitto } from "../../testbed/broker.ts";
import { numbers } from "../../testbed/numbers.ts";

// Needs a broker that keeps what it has on disk: apt-get install mosquitto.
test.skipIf(mosquitto === null)(
  "600 messages at QoS 1, gateway and mosquitto killed at random: all are there, none twice",
  async () => {
    const killed = await killAtRandom({ messages: 600, random: numbers(7) });
    expect(killed.faults).toEqual([]);
    expect(killed.served).toBe(900);
    expect(killed.gatewayKills).toBeGreaterThan(0);
  },
);
