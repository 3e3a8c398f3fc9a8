import { parseArgs } from "node:util";
import { s400Weighing, xiaomiWeighing } from "./scale.ts";

/**
 * Simulated broadcasting scales as a process of their own. What they broadcast comes out as commands for the simulated
 * controller: `bun drivers/scale/simulator/main.ts | bun drivers/ble/simulator/main.ts`.
 */
const help = `bun main.ts [--address 84:46:93:64:a5:e6] [--key HEX]
  70.5          somebody of 70.5 kg steps on a Mi scale
  70.5 72       the same on an S400, which also takes the pulse; needs --key`;

const { values } = parseArgs({
  options: {
    address: { type: "string", default: "84:46:93:64:a5:e6" },
    key: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(help);
  process.exit(0);
}
const { address } = values;
const put = (command: object) => console.log(JSON.stringify({ address, ...command }));
put({ do: "add" });

function broadcast(uuid: string, packets: readonly Uint8Array[]): void {
  for (const packet of packets) {
    const structure = Uint8Array.from([packet.length + 3, 0x16, ...Uint8Array.fromHex(uuid), ...packet]);
    put({ do: "say", hex: structure.toHex() });
    put({ do: "advertise" });
  }
}

for await (const line of console) {
  const [kilograms = "", pulse = ""] = line.trim().split(/\s+/);
  const weight_g = Number(kilograms) * 1000;
  if (!(weight_g > 0)) console.error(help);
  else if (pulse === "") broadcast("1b18", xiaomiWeighing({ weight_g, shown_ms: Date.now() }));
  else {
    const sender = {
      address: Uint8Array.fromHex(address.replaceAll(":", "")),
      key: Uint8Array.fromHex(values.key ?? "00".repeat(16)),
    };
    const stamp_s = Math.floor(Date.now() / 1000);
    const weighing = { profile: 1, stamp_s, weight_g, heartRate: Number(pulse), impedance_ohm: 500 };
    broadcast("95fe", s400Weighing(weighing, sender));
  }
}
