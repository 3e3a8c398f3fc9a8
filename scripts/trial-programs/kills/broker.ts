/**
 * 10,000 messages of other hubs at QoS 1, while gateway and broker are killed at random: are all there, and none twice?
 *
 *   ./scripts/trials kills broker [--messages 10000] [--seed 1]
 *
 * Of the gateway that people start, at a real mosquitto (apt-get install mosquitto) with its queue on disk. Forty sensors of Zigbee2MQTT and Z-Wave JS UI
 * speak, each message with its hub's stamp. Exits with 1 and names each message that is missing or there twice.
 */

import { mosquitto } from "../../../testbed/broker.ts";
import { numbers } from "../../../testbed/numbers.ts";
import { endWith, optionsOf } from "../../program-options.ts";
import { killAtRandom } from "./broker-killed.ts";

const { messages, seed } = optionsOf(
  "./scripts/trials kills broker [--messages 10000] [--seed 1]   how many are sent, and what the kills depend on",
  { messages: 10_000, seed: 1 },
  ({ messages, seed }) => [messages, seed].every(Number.isInteger) && messages >= 1,
);
if (mosquitto === null) {
  console.error("broker: mosquitto is not installed: apt-get install mosquitto");
  process.exit(2);
}
const killed = await killAtRandom({
  messages,
  random: numbers(seed),
  told: (line) => console.log(`  ${line}`),
});
endWith(
  "broker",
  {
    messages,
    "of them sent again": killed.sentAgain,
    "kills of the gateway": killed.gatewayKills,
    "kills of the broker": killed.brokerKills,
    seconds: killed.seconds,
    "readings served": killed.served,
    "missing or there twice": killed.faults.length,
  },
  killed.faults,
);
