import type { Answer, Caller, TriedCentral } from "./central.ts";
import type { Gateway } from "./gateway.ts";
import { homeOfValue, marksIn, orderOfValue, type Series } from "./marks.ts";
import {
  type Device,
  deviceName,
  type Inventory,
  type Item,
  type Kind,
  type Model,
  type Moment,
  type Reading,
  staysOf,
} from "./model.ts";
import type { Programme } from "./programme.ts";
import type { Random } from "./random.ts";

/** A fault of central: something of one home that another was shown, something that is lost, or any other answer that is not as it must be. */
export type FaultKind = "foreign" | "lost" | "wrong";

/** All that the calls of a trial need. */
export class Trial {
  readonly central: TriedCentral;
  readonly programme: Programme;
  readonly model: Model;
  readonly gateways: ReadonlyMap<number, Gateway>;
  readonly tokens: {
    readonly sync: ReadonlyMap<number, Caller>;
    readonly readers: readonly Caller[];
    readonly admin: Caller;
  };
  /** Uploads of new readings of each home that were begun, and that were answered. */
  readonly begun: Int32Array;
  readonly answered: Int32Array;
  /** Items that stand for devices in no inventory, by name, as central has listed them. */
  readonly provisional = new Map<string, Device & { readonly home: number }>();
  readonly faults: Record<FaultKind, number> = { foreign: 0, lost: 0, wrong: 0 };
  readonly said: string[] = [];
  /** Answers that could not be compared exactly, because too much happened meanwhile. */
  uncertain = 0;

  constructor(of: Pick<Trial, "central" | "programme" | "model" | "gateways" | "tokens">) {
    this.central = of.central;
    this.programme = of.programme;
    this.model = of.model;
    this.gateways = of.gateways;
    this.tokens = of.tokens;
    this.begun = new Int32Array(of.programme.homes.length + 1);
    this.answered = new Int32Array(of.programme.homes.length + 1);
  }

  fault(kind: FaultKind, answer: Pick<Answer, "path">, caller: Caller | undefined, what: string): void {
    this.faults[kind] += 1;
    if (this.said.length >= said_max) return;
    const bound = caller?.homes === undefined ? "" : ` (token of homes ${[...caller.homes].join(", ")})`;
    this.said.push(`${kind}: ${answer.path}${bound}: ${what}`);
  }

  /** Counts a fault where an answer has another status. @returns whether it has this one */
  expect(answer: Answer, caller: Caller | undefined, ...status: readonly number[]): boolean {
    if (status.includes(answer.status)) return true;
    this.fault("wrong", answer, caller, `${answer.status} ${answer.text.slice(0, 200)}`);
    return false;
  }

  /** Counts a fault for each mark in a text that is not of one of these homes, or of an item that was ever in one of them. */
  expectOwn(
    answer: Pick<Answer, "path">,
    caller: Caller | undefined,
    text: string,
    homes: ReadonlySet<number>,
  ): void {
    const marks = marksIn(text);
    const foreign = [...marks.homes].filter((home) => !homes.has(home)).map((home) => `home ${home}`);
    for (const itemid of marks.items)
      if (![...homes].some((home) => this.programme.wasEverIn(itemid, home))) foreign.push(`item ${itemid}`);
    if (foreign.length > 0)
      this.fault(
        "foreign",
        answer,
        caller,
        `shown to, or as of, home ${[...homes].join(", ")}: ${foreign.join(", ")}`,
      );
  }

  /** Notes how far everything is, before a call. */
  open(): Opened {
    return { uploads: this.answered.slice(), imports: this.programme.ended };
  }

  /** How far everything may have been during a call. */
  close({ uploads, imports }: Opened): Window {
    return { from: uploads, to: this.begun.slice(), inventories: this.programme.since(imports) };
  }

  /** The reading of a value; undefined of one that nobody has sent. */
  readingOf(value: number): Reading | undefined {
    return this.model.sentBy(homeOfValue(value))[orderOfValue(value) - 1];
  }

  /** The readings in the records of an answer. */
  readingsIn(records: readonly SeriesRecord[], { field }: Series): (Reading | number)[] {
    return records.map((record) => this.readingOf(record[field] as number) ?? (record[field] as number));
  }

  /** Where a reader may look: an item of the inventory, or one that stands for a device in none. */
  subject(random: Random): Subject {
    if (this.provisional.size > 0 && random.chance(0.15)) {
      const [itemname, provisional] = random.pickOf(this.provisional);
      return { kind: provisional.kind, itemname, provisional };
    }
    const [, item] = random.pickOf(this.programme.newest.items);
    const { kind } = item;
    return { kind, itemname: random.chance(0.8) ? item.itemname : String(item.itemid), itemid: item.itemid };
  }
}

export interface Subject {
  readonly kind: Kind;
  readonly itemname: string;
  readonly itemid?: number;
  readonly provisional?: Device & { readonly home: number };
}

export interface Opened {
  readonly uploads: Int32Array;
  readonly imports: number;
}

/** The states in which central may have been during a call. */
export interface Window {
  /** Uploads of each home that were surely there, and that may have been. */
  readonly from: Int32Array;
  readonly to: Int32Array;
  readonly inventories: readonly Inventory[];
}

/** A series record as it is served. */
export type SeriesRecord = { readonly stamp: number } & Readonly<Record<string, unknown>>;

/** A device, the homes that its page may have readings of, and its item where it stands in an inventory. */
export interface Seen {
  readonly device: Device;
  readonly homes: ReadonlySet<number>;
  readonly item?: Item;
}

/** A subject as an inventory has it; undefined where there is no such item. */
export function seenAs(
  { itemid, itemname, provisional }: Subject,
  inventory: Inventory,
  { homes }: Caller,
): Seen | undefined {
  if (provisional !== undefined) {
    const gone = inventory.devices.has(deviceName(provisional)) || homes?.has(provisional.home) === false;
    return gone ? undefined : { device: provisional, homes: new Set([provisional.home]) };
  }
  const item = inventory.items.get(itemid ?? 0);
  if (item === undefined || (item.itemname !== itemname && String(itemid) !== itemname)) return undefined;
  const lived = new Set(staysOf(item).map(({ home }) => home));
  return { device: item, homes: homes === undefined ? lived : lived.intersection(homes), item };
}

/** Each moment of a window that makes a difference for these homes: later ones first. Undefined where there are too many. */
export function momentsOf(
  { from, to }: Window,
  inventory: Inventory,
  homes: Iterable<number>,
): Moment[] | undefined {
  let found: Int32Array[] = [to];
  for (const home of homes) {
    const [least = 0, most = 0] = [from[home], to[home]];
    if (found.length * (most - least + 1) > moments_max) return undefined;
    found = found.flatMap((uploads) =>
      Array.from({ length: most - least + 1 }, (_, back) => {
        if (back === 0) return uploads;
        const changed = uploads.slice();
        changed[home] = most - back;
        return changed;
      }),
    );
  }
  return found.map((uploads) => ({ uploads, inventory }));
}

const said_max = 40;
const moments_max = 64;
