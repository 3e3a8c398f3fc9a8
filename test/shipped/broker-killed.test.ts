import { expect, test } from "bun:test";
import { numbers } from "../drivers/numbers.ts";
import { mosquitto } from "./broker.ts";
import { killAtRandom } from "./broker-killed.ts";

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
