import { parseArgs } from "node:util";
import { SimulatedPillBox } from "./box.ts";

/**
 * A simulated pill box as a process of its own. What it broadcasts comes out as commands for the simulated
 * controller: `bun drivers/bthome/simulator/main.ts | bun drivers/ble/simulator/main.ts`.
 */
const help = `bun main.ts [--address 54:48:e6:8f:80:a5] [--key HEX] [--repeats 3]
  turn 3        opens or closes a door, 0 Sunday to 6 Saturday
  heartbeat     sends the last event again, as after 4 h
  battery       gets a new battery`;

const { values } = parseArgs({
  options: {
    address: { type: "string", default: "54:48:e6:8f:80:a5" },
    key: { type: "string" },
    repeats: { type: "string", default: "3" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(help);
  process.exit(0);
}
const { address, key } = values;
const put = (command: object) => console.log(JSON.stringify({ address, ...command }));
put({ do: "add" });
const box = new SimulatedPillBox({
  address,
  repeats: Number(values.repeats),
  clock_s: () => Math.floor(Date.now() / 1000),
  ...(key === undefined ? {} : { key: Uint8Array.fromHex(key) }),
  send: (serviceData) => {
    const structure = Uint8Array.from([serviceData.length + 3, 0x16, 0xd2, 0xfc, ...serviceData]);
    put({ do: "say", hex: structure.toHex() });
    put({ do: "advertise" });
  },
});
for await (const line of console) {
  const [word = "", door = ""] = line.trim().split(/\s+/);
  if (word === "turn" && /^[0-6]$/.test(door)) box.turn(Number(door));
  else if (word === "heartbeat") box.heartbeat();
  else if (word === "battery") box.changeBattery();
  else if (word !== "") console.error(help);
}
