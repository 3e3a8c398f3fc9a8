import { Type } from "@sinclair/typebox";
import { usualQuantities, usualUnits } from "../quantities.ts";
import { DeviceRecord } from "../records/device.ts";
import type { InterfaceReader } from "./answers.ts";
import { column, columnsOfSchema, type FileCell, type FileColumn, rowOf } from "./column.ts";
import type { Format } from "./format.ts";
import type { Pseudonyms } from "./pseudonyms.ts";
import { fileOf } from "./series-file.ts";
import type { StampForm } from "./stamp-form.ts";
import { writeTable } from "./table-file.ts";

/** The name of the file of devices, without ending. */
export const deviceList = "devices";

/**
 * Writes the device of each item into one file, anew each time: how the readings beside it were made.
 *
 * @returns how many there are; undefined, and no file, where the interface does not tell devices
 */
export async function writeDevices(options: {
  answers: InterfaceReader;
  items: readonly { readonly itemname: string; readonly typename: string }[];
  /** Of the file, without ending. */
  path: string;
  format: Format;
  stamp: StampForm;
  pseudonyms?: Pseudonyms | undefined;
}): Promise<number | undefined> {
  const { answers, items, format, stamp, pseudonyms } = options;
  async function* rows() {
    if (items.length === 0) yield [];
    for (const { itemname, typename } of items) {
      const path = `/items/${typename}/${encodeURIComponent(itemname)}/device`;
      const answer = await answers.get<DeviceRecord>(path, "", DeviceRecord);
      // A gateway is an item too, and no device that records something.
      if (answer !== undefined && answer !== "gone") yield [[itemname, typename, ...cellsOf(answer.body)]];
    }
  }
  return writeTable(
    { path: fileOf(options.path, format), format, columns: deviceColumns, stamp, pseudonyms },
    rows(),
  );
}

const lists = ["measures", "nevertells"] as const;
const single = Type.Omit(DeviceRecord, lists);

/** The values of a device, its lists as text behind the others. */
function cellsOf(device: DeviceRecord): FileCell[] {
  const measures = device.measures.map(({ quantity, unit }) => `${quantity} ${unit}`.trimEnd());
  return [...rowOf(single, device), measures.join(", "), device.nevertells.join(", ")];
}

const listed = (name: (typeof lists)[number]) =>
  column(name, "text", DeviceRecord.properties[name].description ?? "");
/** Quantities with their units, as `cellsOf` writes them. */
const isUsual = (text: string) =>
  text.split(", ").every((one) => {
    const [quantity = "", ...unit] = one.split(" ");
    return one === "" || (usualQuantities.test(quantity) && usualUnits.test(unit.join(" ")));
  });
/** Columns of the file of devices. */
export const deviceColumns: readonly FileColumn[] = [
  { ...column("itemname", "text", "the item"), identifies: "itemname" },
  column("typename", "text", "its type, as paths of the interface have it"),
  ...columnsOfSchema(single),
  { ...listed("measures"), identifies: { isKnown: isUsual } },
  listed("nevertells"),
];
