/**
 * 10,000 messages of other hubs at QoS 1, while gateway and broker are killed at random: are all there, and none twice?
 *
 *   ./scripts/trials mqtt [--messages 10000] [--seed 1]
 *
 * Of the gateway that people start, at a real mosquitto (apt-get install mosquitto) with its queue on disk. Forty sensors of Zigbee2MQTT and Z-Wave JS UI
 * speak, each message with its hub's stamp. Exits with 1 and names each message that is missing or there twice.
 */
import { parseArgs } from "node:util";
import { mosquitto } from "../../testbed/broker.ts";
import { numbers } from "../../testbed/numbers.ts";
import { figuresText } from "../figures.ts";
import { killAtRandom } from "./kills/broker-killed.ts";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "10000" },
    seed: { type: "string", default: "1" },
    help: { type: "boolean" },
  },
});
const [messages, seed] = [Number(values.messages), Number(values.seed)];
if (values.help || !Number.isInteger(messages) || messages < 1 || !Number.isInteger(seed)) {
  console.log(
    "./scripts/trials mqtt [--messages 10000] [--seed 1]   how many are sent, and what the kills depend on",
  );
  process.exit(values.help ? 0 : 2);
}
if (mosquitto === null) {
  console.error("mqtt: mosquitto is not installed: apt-get install mosquitto");
  process.exit(2);
}
const killed = await killAtRandom({
  messages,
  random: numbers(seed),
  told: (line) => console.log(`  ${line}`),
});
console.log(
  figuresText({
    messages,
    "of them sent again": killed.sentAgain,
    "kills of the gateway": killed.gatewayKills,
    "kills of the broker": killed.brokerKills,
    seconds: killed.seconds,
    "readings served": killed.served,
    "missing or there twice": killed.faults.length,
  }),
);
for (const fault of killed.faults) console.error(`mqtt: ${fault}`);
process.exit(killed.faults.length === 0 ? 0 : 1);
