import { clockQuality } from "../../src/base/clock.ts";
import type { Host } from "../driver.ts";
import { bytesOf, type ProvenTable } from "../wire/example.ts";
import { scaleBroadcastExamples, scaleExamples } from "./examples.ts";
import { xiaomiModels } from "./facts.ts";
import { decodeS400 } from "./s400.ts";
import { compositionFlag, decodeUserResponse, weightFlag } from "./standard.ts";
import { stateBit, step_g } from "./xiaomi.ts";
import { xiaomiScales } from "./xiaomi-scales.ts";

const moment = {
  unix_ms: Date.UTC(2026, 10, 20, 8, 30, 4),
  monotonic_ms: 9_000_000,
  quality: clockQuality.synchronised,
};
const weights = 'GATT Specification Supplement, "Weight Measurement"';
const compositions = 'GATT Specification Supplement, "Body Composition Measurement"';
const mi = "https://github.com/oliexdev/openScale/wiki/Xiaomi-Bluetooth-Mi-Scale";
/** Captures that their owners published with the keys. */
const s400 =
  "https://github.com/Bluetooth-Devices/xiaomi-ble, https://github.com/lswiderski/MiScaleBodyComposition";
const senders = [
  { address: bytesOf("8cd0b2f6beef"), key: bytesOf("0728974d657a4b60964c1b1677f35f7c") },
  { address: bytesOf("84469364a5e6"), key: bytesOf("58305740b64e4b425e518aa1f4e51339") },
];
const date = "ea070b14081e00";

/** Of a composition whose flags say that the weight is there too, 0xffff is "measurement unsuccessful". */
const composition = (...messages: (readonly [string, string])[]) => [compositions, ...messages] as const;

/** Values behind the UUIDs of their characteristics. */
async function indicate(message: string, host: Host): Promise<void> {
  const frames = message.split(",").map((one) => {
    const bytes = bytesOf(one);
    const value = bytes.slice(2);
    return [value.length + 3, 0, 4, 0, 0x1d, bytes[1] ?? 0, bytes[0] ?? 0, ...value];
  });
  await scaleExamples.feed(Uint8Array.from(frames.flat()), host);
}

export const scaleTables: readonly ProvenTable[] = [
  {
    name: "weight of a standard scale",
    rows: Object.keys(weightFlag),
    proofs: {
      imperial: [
        weights,
        ["2a9d 00 9839", "weight 73720"],
        ["2a9d 01 8340", "weight 74911"],
        ["2a9d 00 feff", "weight 327670"],
        ["2a9d 00 ffff", "dropped scale weighings without a weight"],
        ["2a9d 01 ffff", "dropped scale weighings without a weight"],
      ],
      time: [
        weights,
        [`2a9d 02 9839 ${date}`, "weight 73720"],
        ["2a9d 02 9839 00000000000000", "weight 73720"],
      ],
      user: [weights, ["2a9d 04 9839 01", "weight 73720"], ["2a9d 04 9839 ff", "weight 73720"]],
      height: [weights, ["2a9d 0c 9839 02 f200 d606", "weight 73720"]],
    },
    moment,
    feed: indicate,
  },
  {
    name: "composition of a standard scale",
    rows: Object.keys(compositionFlag),
    proofs: {
      imperial: composition(
        ["2a9c 0104 fa00 8340", "weight 74911 fatMass 18728"],
        ["2a9c 0004 fa00 803e", "weight 80000 fatMass 20000"],
      ),
      time: composition([`2a9c 0204 fa00 ${date} 803e`, "weight 80000 fatMass 20000"]),
      user: composition(
        ["2a9c 0404 fa00 01 803e", "weight 80000 fatMass 20000"],
        ["2a9c 0404 fa00 ff 803e", "weight 80000 fatMass 20000"],
      ),
      metabolism: composition(["2a9c 0804 fa00 401a 803e", "weight 80000 fatMass 20000"]),
      muscle_percent: composition(
        ["2a9c 1004 fa00 9001 803e", "weight 80000 fatMass 20000 muscleMass 32000"],
        ["2a9c 1004 fa00 ffff 803e", "weight 80000 fatMass 20000"],
      ),
      muscle: composition(
        ["2a9c 2004 fa00 1027 803e", "weight 80000 fatMass 20000 muscleMass 50000"],
        ["2a9c 2004 fa00 ffff 803e", "weight 80000 fatMass 20000"],
      ),
      fatFree: composition(["2a9c 4004 fa00 e02e 803e", "weight 80000 fatMass 20000"]),
      softLean: composition(
        ["2a9c 8004 fa00 a028 803e", "weight 80000 fatMass 20000 boneMass 8000"],
        ["2a9c 8004 fa00 ffff 803e", "weight 80000 fatMass 20000"],
      ),
      water: composition(
        ["2a9c 0005 fa00 401f 803e", "weight 80000 fatMass 20000 waterMass 40000"],
        ["2a9c 0005 fa00 ffff 803e", "weight 80000 fatMass 20000"],
      ),
      impedance: composition(["2a9c 0006 fa00 8813 803e", "weight 80000 fatMass 20000"]),
      weight: composition(
        // Where both tell a weight, it is that of the Weight Measurement.
        ["2a9d 00 803e, 2a9c 0004 fa00 6842", "weight 80000 fatMass 20000"],
        ["2a9c 0004 ffff 803e", "weight 80000"],
        ["2a9c 0004 fa00 ffff", "dropped scale weighings without a weight"],
        ["2a9c 0000 fa00", "dropped scale weighings without a weight"],
        ["2a9c 0004 0000 803e", "weight 80000 fatMass 0"],
      ),
      height: composition(["2a9c 000c fa00 803e d606", "weight 80000 fatMass 20000"]),
      multiplePackets: composition([
        "2a9c 0014 fa00 803e, 2a9c 0011 ffff 401f",
        "weight 80000 fatMass 20000 waterMass 40000",
      ]),
    },
    moment,
    feed: indicate,
  },
  {
    name: "answers of a scale's user control point",
    rows: ["success", "not supported", "invalid parameter", "failed", "not authorised"],
    proofs: {
      success: ["User Data Service 3.2.2", ["200201", "granted"]],
      "not supported": ["User Data Service 3.2.2", ["200202", "refused"]],
      "invalid parameter": ["User Data Service 3.2.2", ["200203", "refused"]],
      failed: ["User Data Service 3.2.2", ["200204", "refused"]],
      "not authorised": ["User Data Service 3.2.2", ["200205", "refused"]],
    },
    moment,
    feed: (message) => (decodeUserResponse(bytesOf(message))?.granted === true ? "granted" : "refused"),
  },
  {
    name: "units and states of a Mi scale",
    rows: [...Object.keys(step_g), ...Object.keys(stateBit)].filter(
      (row, at, all) => all.indexOf(row) === at,
    ),
    proofs: {
      kg: [mi, [`02 24 ${date} 0000 2c38`, "weight 71900"], [`02 24 ${date} 0000 0000`, ""]],
      lb: [mi, [`03 24 ${date} 0000 8340`, "weight 74911"]],
      catty: [mi, [`02 64 ${date} 0000 2c38`, "weight 71900"]],
      stable: [mi, [`02 04 ${date} 0000 2c38`, ""]],
      impedance: [mi, [`02 26 ${date} f401 2c38`, "weight 71900"]],
      removed: [mi, [`02 a4 ${date} 0000 2c38`, "weight 71900"], [`02 84 ${date} 0000 2c38`, ""]],
    },
    moment,
    feed: (message, host) => scaleBroadcastExamples.feed(bytesOf(`10 16 1b18 ${message}`), host),
  },
  {
    name: "models of Mi scales",
    rows: xiaomiModels.keys(),
    proofs: { MIBCS: [mi, ["", "XMTZC02HM"]], MIBFS: [mi, ["", "XMTZC05HM"]] },
    moment,
    feed: (_, __, name) =>
      xiaomiScales.deviceOf(
        {
          address: "00:00:00:00:00:01",
          addressType: "public",
          name,
          services: [],
          serviceData: new Map([["181b", bytesOf(`02 24 ${date} 0000 2c38`)]]),
          rssi: -60,
          connectable: false,
        },
        {},
      )?.model,
  },
  {
    name: "captures of S400 scales",
    rows: ["all three", "impedance alone", "another person", "weight alone"],
    proofs: {
      "all three": [
        s400,
        ["4859d53b0abc078ff2348c844138e930220000009e538599", told(1_744_250_605, 69_900, 92, 543.2)],
      ],
      "impedance alone": [
        s400,
        [
          "4859d53b0bd6ef0b25db72785e7e2f46d6000000d8642df6",
          told(1_744_250_605, undefined, undefined, 497.6),
        ],
      ],
      "another person": [
        s400,
        ["4859d53b2d3314943c58b133638c7457a4000000c3e670dc", told(1_751_914_873, 74_200, 52, 400.9)],
      ],
      "weight alone": [
        s400,
        ["4859d53b4d6f359ce56f1f7e7e0adddc260000000c13d3c4", told(1_752_586_470, 73_300)],
      ],
    },
    moment,
    feed: (message) => {
      const seen = senders
        .map((sender) => decodeS400(bytesOf(message), sender))
        .find((one) => one !== undefined);
      return told(seen?.stamp_s, seen?.weight_g, seen?.heartRate, seen?.impedance_ohm);
    },
  },
];

function told(stamp_s?: number, weight_g?: number, heart?: number, impedance_ohm?: number): string {
  return `${stamp_s} s, ${weight_g} g, ${heart} 1/min, ${impedance_ohm} Ω`;
}
