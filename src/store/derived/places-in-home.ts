import { type Place, placeOf } from "../../domain/derived/places.ts";
import { recordingKinds } from "../../domain/kinds.ts";
import type { Item } from "../../domain/records/item.ts";
import { isDevice } from "../inventory/given-names.ts";
import { linesOf } from "../inventory/walking-lines.ts";
import { itemsInHome, type MeasuredHome } from "./home-readings.ts";

/** Where the items of a home are: their rooms, roles and places in lines, by which its measures are made. In order of itemid. */
export async function placesIn(
  asked: Pick<MeasuredHome, "store" | "walking"> & { readonly home: number },
): Promise<Place[]> {
  const { store, home, walking } = asked;
  const names = await store.givenNames(home);
  const records: Item[] = [];
  for (const kind of recordingKinds) records.push(...(await itemsInHome(asked, kind)));
  const lines = linesOf(walking, names, records);
  const inLines = lines.flatMap(({ name, sensors }) =>
    sensors.map(({ item, metres }, at) => ({ item, line: name, order: at + 1, metres })),
  );
  return records
    .map((record): Place => {
      const { itemid, itemname, typename } = record;
      const given = names.find((one) => isDevice(one, record));
      const {
        line = null,
        order = null,
        metres = null,
      } = inLines.find(({ item }) => item === itemname) ?? {};
      const place = placeOf(itemname, given);
      return { homeid: home, itemid, itemname, typename, ...place, line, order, metres };
    })
    .sort((one, other) => one.itemid - other.itemid);
}
