import { expect, test } from "bun:test";
import { join } from "node:path";
import { decodeObjects, encodeObjects, objectTypes, presses } from "../../../drivers/bthome/objects.ts";
import { encodeServiceData } from "../../../drivers/bthome/service-data.ts";

/** The values that are read of an object whose bytes are all 01, or all FE, and where a sensor's value of it goes. */
function told(id: number): string {
  const type = objectTypes.get(id);
  const length = type?.bytes === "prefixed" ? 1 : (type?.bytes ?? 0);
  const values = [0x01, 0xfe].map((byte) => {
    const sent = type?.bytes === "prefixed" ? [id, 1, byte] : [id, ...new Uint8Array(length).fill(byte)];
    return decodeObjects(Uint8Array.from(sent)).objects[0]?.value;
  });
  const hex = id.toString(16).padStart(2, "0");
  return [
    hex,
    type?.name,
    type?.bytes,
    ...values,
    type?.unit ?? "-",
    JSON.stringify(type?.kept ?? null),
  ].join("\t");
}

test("every object of the format has its name, length, sign, step, unit and place", async () => {
  const table = Array.from({ length: 256 }, (_, id) => id).filter((id) => objectTypes.has(id));
  const golden = await Bun.file(join(import.meta.dir, "../../golden/bthome/objects.tsv")).text();
  expect(`${table.map(told).join("\n")}\n`).toBe(golden);
});

test("presses of a button have the words of zigbee2mqtt", () => {
  expect([...presses]).toEqual([
    [1, "single"],
    [2, "double"],
    [3, "triple"],
    [4, "long"],
    [5, "long_double"],
    [6, "long_triple"],
    [128, "hold"],
  ]);
});

test("a simulator sends objects in rising order, of known kinds, and seals only with a key", () => {
  const [battery, packet] = [
    { id: 1, value: 97 },
    { id: 0, value: 9 },
  ];
  expect(encodeObjects([battery, packet]).toHex()).toBe("00090161");
  expect(() => encodeObjects([{ id: 0xee, value: 1 }])).toThrow("no object 238");
  const address = new Uint8Array(6);
  expect(() => encodeServiceData({ objects: [], counter: 1 }, { address })).toThrow("takes a key");
});
