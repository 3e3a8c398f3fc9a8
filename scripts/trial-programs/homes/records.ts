import type { Answer, Caller } from "./central.ts";
import { homeMark, kinds, seriesOfKind } from "./marks.ts";
import { deviceName, type Item, type Kind, type Reading, staysOf } from "./model.ts";
import { timeNear } from "./pages.ts";
import type { Random } from "./random.ts";
import type { SeriesRecord, Trial, Window } from "./trial.ts";

/** Calls of readers to lists and records: nothing in what stands under a home or subject is of another. */

/** A page of the inventory of a type. What stands for a device in no inventory is of a home that has told of it, and has nothing of another. */
export async function readInventory(trial: Trial, random: Random): Promise<void> {
  const caller = random.pick(trial.tokens.readers);
  const kind = random.pick(kinds);
  const skip = random.below(trial.programme.newest.items.size);
  await inventoryPage(trial, caller, kind, { skip, limit: 1 + random.below(40) });
}

/** @returns how many items it has */
export async function inventoryPage(
  trial: Trial,
  caller: Caller,
  kind: Kind,
  { skip, limit }: { skip: number; limit: number },
): Promise<number> {
  const answer = await trial.central.call(`/v0.9/inventory/${kind}?skip=${skip}&limit=${limit}`, caller);
  if (!trial.expect(answer, caller, 200)) return 0;
  const items = answer.json<ListedItem[]>();
  for (const item of items) checkItem(trial, answer, caller, item);
  return items.length;
}

interface ListedItem {
  readonly itemid: number;
  readonly itemname: string;
  readonly typename: Kind;
  readonly macaddress: string | null;
  readonly statusname: string | null;
  readonly currenthomeid: number | null;
}

/** An item as it is listed anywhere: with nothing of another item or home, and to those alone who may see it. */
function checkItem(trial: Trial, answer: Answer, caller: Caller, item: ListedItem): void {
  const { itemid, typename: kind, macaddress, currenthomeid } = item;
  const text = JSON.stringify(item);
  const { programme } = trial;
  if (programme.newest.items.has(itemid)) {
    const others = text.replaceAll(`mi${itemid}m`, "").match(/m[hi][0-9]+m/);
    const seen =
      caller.homes === undefined || [...caller.homes].some((home) => programme.wasEverIn(itemid, home));
    if (others !== null || !seen) trial.fault("foreign", answer, caller, `item ${itemid}: ${text}`);
    return;
  }
  const home = currenthomeid ?? 0;
  trial.expectOwn(answer, caller, text, new Set([home]));
  const address = macaddress ?? "";
  const told = trial.gateways.get(home)?.told.has(deviceName({ kind, address }));
  if (told !== true || caller.homes?.has(home) === false)
    trial.fault("foreign", answer, caller, `an item of a device that home ${home} never told of: ${text}`);
  else if (address !== "") trial.provisional.set(item.itemname, { kind, address, home });
}

/** The events sensed in a home, item by item. */
export async function readNight(trial: Trial, random: Random): Promise<void> {
  await readNightOf(trial, random.pick(trial.tokens.readers), random.pick(trial.programme.homes), {
    limit: random.pick([3, 30]),
    before: random.chance(0.5) ? timeNear(trial, random) : undefined,
  });
}

export async function readNightOf(
  trial: Trial,
  caller: Caller,
  home: number,
  { limit, before }: { limit: number; before?: number | undefined },
): Promise<void> {
  const path = `/v0.9/homes/${home}/wirelesssensors/events?precision=ms&limit=${limit}`;
  const opened = trial.open();
  const answer = await trial.central.call(path + (before === undefined ? "" : `&before=${before}`), caller);
  const window = trial.close(opened);
  if (caller.homes?.has(home) === false) {
    if (answer.status !== 404) trial.fault("foreign", answer, caller, `${answer.status} of home ${home}`);
    return;
  }
  if (!trial.expect(answer, caller, 200)) return;
  const [series] = seriesOfKind.wirelesssensors;
  const shown = new Map<string, (Reading | number)[]>();
  for (const { itemname, events } of answer.json<{ itemname: string; events: SeriesRecord[] }[]>()) {
    const readings = trial.readingsIn(events, series as NonNullable<typeof series>);
    // Records of one home that overlap each have what they share.
    shown.set(itemname, [...(shown.get(itemname) ?? []), ...readings]);
    if (new Set(readings).size < readings.length)
      trial.fault("wrong", answer, caller, `${itemname}: repeated`);
  }
  for (const [itemname, readings] of shown) {
    const foreign = readings.find((reading) => typeof reading === "number" || reading.home !== home);
    if (foreign === undefined) continue;
    trial.fault("foreign", answer, caller, `${itemname} has ${valueIn(foreign)}`);
    return;
  }
  checkNight(trial, { answer, caller, home, limit, before_ms: (before ?? Infinity) * 1000, shown }, window);
}

interface Night {
  readonly answer: Answer;
  readonly caller: Caller;
  readonly home: number;
  readonly limit: number;
  readonly before_ms: number;
  readonly shown: ReadonlyMap<string, readonly (Reading | number)[]>;
}

/** Each item that lived in the home has there what the home sent of it in its stays: the newest of each stay, and nothing else. */
function checkNight(
  trial: Trial,
  { answer, caller, home, limit, before_ms, shown }: Night,
  window: Window,
): void {
  if (window.inventories.length > 1) return;
  const [inventory] = window.inventories as [Window["inventories"][0]];
  const only = { homes: new Set([home]), before_ms };
  for (const [itemname, readings] of shown) {
    const item = inventory.items.get(itemidIn(itemname));
    const all =
      item === undefined
        ? undefined
        : new Set<Reading | number>(
            trial.model.page(item, "wirelesssensor_events", { uploads: window.to, inventory }, only),
          );
    const foreign = all === undefined ? undefined : readings.find((reading) => !all.has(reading));
    if (foreign !== undefined)
      trial.fault(
        "wrong",
        answer,
        caller,
        `${itemname} has ${valueIn(foreign)}, which is of none of its stays`,
      );
  }
  for (const item of inventory.items.values()) {
    if (item.kind !== "wirelesssensors" || !staysOf(item).some((stay) => stay.home === home)) continue;
    const held = new Set(shown.get(item.itemname));
    const newest = (uploads: ArrayLike<number>) =>
      trial.model
        .page(item, "wirelesssensor_events", { uploads, inventory }, only)
        .filter(({ stamp_ms }) => stamp_ms >= lastCame_ms(item, home))
        .take(limit);
    // A reading that came meanwhile takes the place of the last one.
    const wanted = new Set(newest(window.to));
    const missing = newest(window.from).find((reading) => wanted.has(reading) && !held.has(reading));
    if (missing === undefined) continue;
    trial.fault("lost", answer, caller, `${item.itemname} lacks ${missing.value}: ${JSON.stringify(item)}`);
    return;
  }
}

/** When an item last came into a home: what it recorded there before it was written down is on its own page alone. */
function lastCame_ms({ rows, currenthomeid, currenthomestart }: Item, home: number): number {
  const recorded = rows.filter(({ homeid }) => homeid === home);
  const left_s = Math.max(0, ...recorded.map(({ stop }) => stop ?? 0));
  const came_s = currenthomeid === home ? (currenthomestart ?? left_s) : 0;
  return 1000 * Math.max(came_s, ...recorded.map(({ start }) => start ?? 0));
}

/** Records of a home, or of all. */
export async function readHomes(trial: Trial, random: Random): Promise<void> {
  const caller = random.pick(trial.tokens.readers);
  const home = random.pick(trial.programme.homes);
  const seen = caller.homes?.has(home) !== false;
  if (random.chance(0.1)) {
    await list(trial, caller, "/v0.9/homes/", ({ homeid }) => homeid as number);
    return;
  }
  const path = random.pick([`/v0.9/homes/${home}`, `/v0.9/homes/${home}/inventory/`]);
  const answer = await trial.central.call(path, caller);
  if (!seen && answer.status === 200) trial.fault("foreign", answer, caller, `200 of home ${home}`);
  if (!seen || !trial.expect(answer, caller, 200)) return;
  if (path.endsWith("inventory/"))
    for (const { item } of answer.json<{ item: ListedItem }[]>())
      checkStay(trial, answer, caller, home, item);
  else trial.expectOwn(answer, caller, answer.text, new Set([home]));
}

/** An item of the inventory of a home. */
function checkStay(trial: Trial, answer: Answer, caller: Caller, home: number, item: ListedItem): void {
  checkItem(trial, answer, caller, item);
  const lives = trial.programme.newest.items.has(item.itemid)
    ? trial.programme.wasEverIn(item.itemid, home)
    : item.currenthomeid === home;
  if (!lives) trial.fault("foreign", answer, caller, `item ${item.itemname} is not of home ${home}`);
}

/** Records of a subject, or of all. */
export async function readSubjects(trial: Trial, random: Random): Promise<void> {
  const caller = random.pick(trial.tokens.readers);
  const home = random.pick(trial.programme.homes);
  const subjectid = home * 10 + 1 + random.below(2);
  if (random.chance(0.05)) {
    await list(trial, caller, "/v0.9/subjects/", ({ subjectid }) => Math.floor((subjectid as number) / 10));
    return;
  }
  if (random.chance(0.05)) {
    await list(trial, caller, "/v0.9/issues/", ({ homeid }) => homeid as number | null);
    return;
  }
  const answer = await trial.central.call(`/v0.9/subjects/${subjectid}${random.pick(ofSubject)}`, caller);
  const seen = caller.homes?.has(home) !== false;
  if (!seen && answer.status === 200)
    trial.fault("foreign", answer, caller, `200 of a subject of home ${home}`);
  if (!seen || !trial.expect(answer, caller, 200)) return;
  trial.expectOwn(answer, caller, answer.text, new Set([home]));
}

/** A list of records, of which each is of a home: all of those that the caller may see, and none with a mark of another. */
async function list(
  trial: Trial,
  caller: Caller,
  path: string,
  homeOf: (record: Readonly<Record<string, unknown>>) => number | null,
): Promise<void> {
  const answer = await trial.central.call(path, caller);
  if (!trial.expect(answer, caller, 200)) return;
  const found = new Set<number>();
  for (const record of answer.json<Record<string, unknown>[]>()) {
    const home = homeOf(record);
    if (home === null) continue;
    found.add(home);
    if (caller.homes?.has(home) === false) trial.fault("foreign", answer, caller, `a record of home ${home}`);
    trial.expectOwn(answer, caller, JSON.stringify(record), new Set([home]));
  }
  const missing = trial.programme.homes.filter(
    (home) => caller.homes?.has(home) !== false && !found.has(home),
  );
  if (missing.length > 0) trial.fault("lost", answer, caller, `nothing of home ${missing[0]}`);
}

/** The fleet: what is told of a home is what its gateway has told; items of others only where it has sent something of their device, and how much. */
export async function readFleet(trial: Trial): Promise<FleetHome[]> {
  const opened = trial.open();
  const answer = await trial.central.call("/sync/v1/fleet", trial.tokens.admin);
  const { to } = trial.close(opened);
  if (!trial.expect(answer, undefined, 200)) return [];
  const fleet = answer.json<FleetHome[]>();
  for (const { strays = [], ...home } of fleet) {
    const { homeid } = home;
    trial.expectOwn(answer, undefined, JSON.stringify(home), new Set([homeid]));
    if (home.version !== null && home.version !== homeMark(homeid))
      trial.fault("foreign", answer, undefined, `home ${homeid} has the version of ${home.version}`);
    if (strays.length === 0) continue;
    const sent = trial.model.sentBy(homeid).filter(({ upload }) => upload <= (to[homeid] ?? 0));
    const byDevice = Map.groupBy(sent, deviceName);
    for (const { itemname, readings } of strays) {
      const itemid = itemidIn(itemname);
      const item = trial.programme.newest.items.get(itemid);
      const ofDevice = (item && byDevice.get(deviceName(item))) ?? [];
      const unnamed = (item && byDevice.get(deviceName({ ...item, address: "" }))) ?? [];
      const most = ofDevice.length + unnamed.filter(({ guessed }) => guessed === itemid).length;
      if (readings > most)
        trial.fault(
          "foreign",
          answer,
          undefined,
          `${readings} of ${itemname} in home ${homeid}, which sent ${most}`,
        );
    }
  }
  return fleet;
}

export interface FleetHome {
  readonly homeid: number;
  readonly version: string | null;
  readonly strays?: readonly { readonly itemname: string; readonly readings: number }[];
}

function valueIn(reading: Reading | number): string {
  return typeof reading === "number" ? `${reading}, never sent` : `${reading.value} of home ${reading.home}`;
}

/** The number of an item, which stands in its name. */
export function itemidIn(itemname: string): number {
  return Number(/^mi([0-9]+)m/.exec(itemname)?.[1] ?? 0);
}

const ofSubject = [
  ...["", "/enrollment/projects/", "/enrollment/studies/", "/scheduled/contacts/", "/phone/"],
  ...["/inventory/", "/contacts/", "/comments/", "/alerts/"],
];
