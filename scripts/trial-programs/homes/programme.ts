import { deviceNumbered, homeMark, itemMark, unlisted_first } from "./marks.ts";
import { type Device, deviceName, type Inventory, type Item, type Kind, type Row, staysOf } from "./model.ts";
import type { Random } from "./random.ts";

/**
 * The programme: homes, people, items, and who hears what. A home hears its own devices, those of its neighbours, and some that stand in no
 * inventory. Items move between homes that hear them, by imports such as people write them: tidy and careless ones.
 */
export class Programme {
  readonly homes: readonly number[];
  /** By the number of the import that made it; those that nobody can be answered from any more are forgotten. */
  readonly #inventories = new Map<number, Inventory>();
  /** How many imports had begun, and how many had ended. */
  begun = 0;
  ended = 0;
  readonly #ever = new Set<string>();
  readonly #starts = new Set<string>();

  constructor(homes: number) {
    this.homes = Array.from({ length: homes }, (_, index) => index + 1);
  }

  /** The inventories that may have been in force since `ended` imports had ended. */
  since(ended: number): Inventory[] {
    return [...this.#inventories].flatMap(([number, inventory]) => (number >= ended ? [inventory] : []));
  }

  get newest(): Inventory {
    return this.#inventories.get(this.begun) as Inventory;
  }

  /** Whether the programme has ever said that an item is in a home. */
  wasEverIn(itemid: number, home: number): boolean {
    return this.#ever.has(`${itemid} ${home}`);
  }

  /** The devices that a home hears. */
  heardIn(home: number): Device[] {
    const near = [-2, -1, 1, 2].map((distance) => this.#neighbour(home, distance));
    const own = itemKinds.map((kind, place) => deviceNumbered(kind, home * 10 + place));
    const others = near.flatMap((other) =>
      itemKinds.slice(0, 4).map((kind, place) => deviceNumbered(kind, other * 10 + place)),
    );
    return [...own, ...others, ...unlistedNear(home)];
  }

  /** The document of the first import. */
  founding(random: Random): object {
    const items = this.homes.flatMap((home) =>
      itemKinds.map((kind, place) => this.#founded(kind, home * 10 + place, home, random)),
    );
    const people = this.homes.flatMap((home) => [1, 2].map((of) => ({ home, subjectid: home * 10 + of })));
    const each = <Record>(make: (home: number, subjectid: number) => Record) =>
      people.map(({ home, subjectid }) => make(home, subjectid));
    for (const { home, subjectid } of people) this.#ever.add(`${subjectid} ${home}`);
    return {
      ...this.#begin(items),
      homes: this.homes.map((homeid) => ({ homeid, address: homeMark(homeid) })),
      subjects: each((home, subjectid) => ({ subjectid, fname: homeMark(home), email: homeMark(home) })),
      project_enrollments: each((homeid, subjectid) => ({ subjectid, projectid: 1, homeid, start: 10 })),
      study_enrollments: each((home, subjectid) => ({
        ...{ subjectid, studyid: 1, studystatestart: 10, studystatecomment: homeMark(home) },
      })),
      phones: each((home, subjectid) => ({ subjectid, phoneid: subjectid, phone: homeMark(home) })),
      comments: each((home, subjectid) => ({ subjectid, commentid: subjectid, comment: homeMark(home) })),
      contacts: each((home, subjectid) => ({ subjectid, contactid: subjectid, contactText: homeMark(home) })),
      scheduled_contacts: each((home, subjectid) => ({
        ...{ subjectid, schedcontactid: subjectid, schedcontactname: homeMark(home) },
      })),
      subject_inventory: each((_, subjectid) => ({
        ...{ subjectid, itemid: subjectid, itemname: itemMark(subjectid), start: "2026-01-01" },
      })),
      projects: [{ projectid: 1 }],
      studies: [{ studyid: 1 }],
      issues: [
        ...this.homes.map((homeid) => ({ issueid: homeid, homeid, summary: homeMark(homeid) })),
        ...items.map(({ itemid }) => ({ issueid: 1_000_000 + itemid, itemid, summary: itemMark(itemid) })),
      ],
    };
  }

  /**
   * The document of an import that moves some items, and lists some devices that no inventory had.
   *
   * @param timeOf a time at which a home has heard a device, unix seconds
   */
  moving(random: Random, timeOf: TimeOf): object {
    const moved = new Map<number, Item>();
    for (let count = 1 + random.below(6); count > 0; count -= 1) {
      const home = random.pick(this.homes);
      // The first sensor of a home stays where it is: nothing else is known of it but by guessing.
      const itemid = home * 10 + 1 + random.below(itemKinds.length - 1);
      const item = this.newest.items.get(itemid) as Item;
      if (!moved.has(itemid)) moved.set(itemid, this.#moved(item, random, timeOf));
    }
    if (random.chance(0.3)) {
      const home = random.pick(this.homes);
      const device = random.pick(unlistedNear(home));
      if (!this.newest.devices.has(deviceName(device))) {
        const itemid = unlisted_first + this.newest.items.size;
        moved.set(
          itemid,
          this.#placed({ ...device, itemid, itemname: nameOf(itemid, 0) }, home, random, timeOf),
        );
      }
    }
    return this.#begin([...moved.values()]);
  }

  #neighbour(home: number, distance: number): number {
    return ((home - 1 + distance + this.homes.length) % this.homes.length) + 1;
  }

  #founded(kind: Kind, itemid: number, home: number, random: Random): Item {
    const item = { ...deviceNumbered(kind, itemid), itemid, itemname: nameOf(itemid, 0) };
    return this.#placed(item, home, random, () => 1_000);
  }

  /** An item in its first home, as programmes write it: by a record of the stay, in the item itself, or both. */
  #placed(
    item: Pick<Item, "kind" | "address" | "itemid" | "itemname">,
    home: number,
    random: Random,
    timeOf: TimeOf,
  ): Item {
    const start = random.chance(0.3) ? null : timeOf(home, item);
    const row = this.#row(item.itemid, home, start, null);
    const current = { currenthomeid: home, currenthomestart: start };
    return random.pick<Item>([
      { ...item, ...current, rows: [] },
      { ...item, ...current, rows: row },
      { ...item, ...nowhere, rows: row },
    ]);
  }

  #moved(item: Item, random: Random, timeOf: TimeOf): Item {
    const from = item.currenthomeid ?? item.rows.at(-1)?.homeid ?? random.pick(this.homes);
    const to = this.#neighbour(from, random.pick([-2, -1, 1, 2]));
    // An import refuses an item that is in two homes at once.
    const known = item.rows.flatMap(({ start, stop }) => [start ?? 0, stop ?? 0]);
    const start = Math.max(
      timeOf(random.chance(0.5) ? from : to, item),
      item.currenthomestart ?? 0,
      ...known,
    );
    const closed = item.rows.map((row) => (row.stop === null ? { ...row, stop: start } : row));
    const opened = this.#row(item.itemid, to, start, null);
    const current = { currenthomeid: to, currenthomestart: start };
    const [, version] = item.itemname.split("-v");
    const renamed = { ...item, itemname: nameOf(item.itemid, Number(version) + 1) };
    return random.pick<Item>([
      // By both, twice as often; only the item; only the record of the stay.
      { ...item, ...current, rows: [...closed, ...opened] },
      { ...item, ...current, rows: [...closed, ...opened] },
      { ...item, ...current, rows: closed },
      { ...item, ...nowhere, rows: [...closed, ...opened] },
      // Taken away, with a record of where it was; another name.
      { ...item, ...nowhere, rows: closed.length > 0 ? closed : opened },
      renamed,
    ]);
  }

  /** A record of a stay, unless there is one of this home and start. */
  #row(itemid: number, homeid: number, start: number | null, stop: number | null): Row[] {
    const name = `${itemid} ${homeid} ${start}`;
    if (this.#starts.has(name)) return [];
    this.#starts.add(name);
    return [{ homeid, start, stop }];
  }

  /** Puts these items into the next inventory, and answers their records. */
  #begin(changed: readonly Item[]): { items: object[]; home_inventory: object[] } {
    const last = this.#inventories.get(this.begun);
    const items = new Map(last?.items);
    const devices = new Map(last?.devices);
    const before = (item: Item) => last?.items.get(item.itemid)?.rows ?? [];
    const home_inventory = changed.flatMap((item) =>
      item.rows.filter((row) => !before(item).includes(row)).map((row) => ({ ...row, item: item.itemid })),
    );
    for (const item of changed) {
      items.set(item.itemid, item);
      devices.set(deviceName(item), item);
      for (const { home } of staysOf(item)) this.#ever.add(`${item.itemid} ${home}`);
      for (const { homeid } of item.rows) this.#ever.add(`${item.itemid} ${homeid}`);
      if (item.currenthomeid !== null) this.#ever.add(`${item.itemid} ${item.currenthomeid}`);
    }
    this.begun += 1;
    this.#inventories.set(this.begun, { items, devices });
    this.#inventories.delete(this.ended - inventories_kept_max);
    return { items: changed.map(recordOf), home_inventory };
  }
}

type TimeOf = (home: number, device: Device) => number;

/** The kinds of the items of a home, in order of their last digit. */
const itemKinds: readonly Kind[] = [
  ...(["wirelesssensors", "wirelesssensors", "scales", "wirelesssensors"] as const),
  ...(["pillboxes", "watches"] as const),
];
/** A call is answered within so many imports. */
const inventories_kept_max = 50;
const nowhere = { currenthomeid: null, currenthomestart: null };

/** Devices in no inventory, at first, that this home and the next ones hear. */
function unlistedNear(home: number): Device[] {
  return [0, 1].flatMap((next) => {
    const group = unlisted_first + 10 * (Math.floor(home / 3) + next);
    return [deviceNumbered("wirelesssensors", group), deviceNumbered("scales", group + 1)];
  });
}

function nameOf(itemid: number, version: number): string {
  return `${itemMark(itemid)}-v${version}`;
}

/** An item as an import has it. Its address is written otherwise than on the air. */
function recordOf({ kind, address, rows: _, ...item }: Item): object {
  return {
    ...item,
    typename: kind,
    macaddress: item.itemid % 2 === 0 ? address : address.toUpperCase().replaceAll(":", "-"),
    serialnum: itemMark(item.itemid),
    modelname: itemMark(item.itemid),
    subtypename: kind === "pillboxes" ? "polled" : "null",
  };
}
