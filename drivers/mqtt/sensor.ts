import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole } from "../../src/base/disk/safe-files.ts";
import { alarmBits } from "../../src/domain/event-words.ts";
import { action_prefix, type MeasureValues } from "../../src/domain/quantities.ts";
import type { Sign, Told } from "./hub.ts";

/** How a message came: `retained` as the state that the broker keeps, `late` as one that may have waited there, or `live`. */
export type Delivery = "retained" | "late" | "live";

/** The part of a message that is news. */
export interface News {
  /** Bits of an event; absent where nothing happened. */
  readonly event?: number;
  readonly measures: readonly MeasureValues[];
  /**
   * `again`: the message was taken before, as its stamp shows. `added`: the hub has changed something by itself since, with the stamp of the
   * device's last message.
   */
  readonly nothing?: "again" | "added";
}

/**
 * The last words of one sensor, by which a message is told from its repetition and a change from a state. Goes with each reading as its cursor.
 */
export class Sensor {
  /** Whether each sign is on, and its bit, by key. */
  readonly #signs = new Map<string, Pick<Sign, "bit" | "on">>();
  /** Keys of signs of which the device has told an end: what it says of them then is how it is. */
  readonly #ended = new Set<string>();
  /** The hub's time of the last movement; two messages of one device that come together tell of one. */
  #happened_ms = 0;
  /** Last value by quantity, and last word by property. */
  readonly #values = new Map<string, number | string>();
  /** Of the last messages with a stamp, oldest first. */
  #recent: readonly Identity[] = [];
  /** Those of them since one was recorded, and those that are not. */
  #fresh: readonly Identity[] = [];
  readonly #unrecorded = new Set<Identity>();
  /** The last event, or what the hub has said since; undefined: the next message is one. */
  #event: number | undefined;
  #recorded: number | undefined;

  /** @param cursor of the newest reading on disk; a damaged one is none */
  constructor(cursor?: string) {
    const state = cursorStateOf(cursor);
    if (state === undefined) return;
    for (const [key, bit, on] of state.signs) this.#signs.set(key, { bit: bit as Sign["bit"], on });
    this.#recent = state.recent.map((text) => identityOf(text));
    this.#recorded = state.event;
    // Nobody knows whether the hub has said meanwhile that it is over. Once more is better than not at all.
    this.#event = ((state.event ?? 0) & alarmBits) === 0 ? state.event : undefined;
  }

  /** Names of the signs that its events are made of. */
  get signs(): readonly string[] {
    return [...this.#signs.keys()];
  }

  /** The news of a message. */
  take(told: Told, delivery: Delivery): News {
    if (delivery === "retained") {
      this.#know(told);
      return { measures: [] };
    }
    const identity =
      told.stamp_ms === undefined ? undefined : { stamp_ms: told.stamp_ms, part: partOf(told) };
    if (identity !== undefined && this.#isRepeated(identity, delivery)) {
      const newest = this.#recent.at(-1);
      const isNewest = newest?.stamp_ms === identity.stamp_ms && newest.part === identity.part;
      if (!isNewest || this.#unrecorded.has(newest)) return { measures: [], nothing: "again" };
      return { measures: [], nothing: this.#isAdded(told) ? "added" : "again" };
    }
    if (identity !== undefined) {
      this.#recent = [...this.#recent.slice(1 - recent_max), identity];
      this.#fresh = [...this.#fresh.slice(1 - recent_max), identity];
    }
    return { ...this.#eventOf(told), measures: this.#newMeasures(told) };
  }

  /**
   * To be told of each message that was news: whether it is recorded. Of one that is not, and of those before it since the last that is, nothing goes into the
   * cursor. They are known again as long as this process lives, and what the sensor says next is an event.
   */
  settle(isRecorded: boolean): void {
    const fresh = this.#fresh;
    this.#fresh = [];
    if (isRecorded) return;
    for (const identity of fresh) this.#unrecorded.add(identity);
    for (const identity of this.#unrecorded)
      if (!this.#recent.includes(identity)) this.#unrecorded.delete(identity);
    this.#event = undefined;
    this.#recorded = undefined;
  }

  /** How far its messages have been taken. */
  cursor(): string {
    const state: State = {
      // Signs without an event that is recorded are as nobody asked to record them.
      signs: this.#recorded === undefined ? [] : [...this.#signs].map(([key, { bit, on }]) => [key, bit, on]),
      recent: this.#recent
        .filter((identity) => !this.#unrecorded.has(identity))
        .map(({ stamp_ms, part }) => `${stamp_ms.toString(36)}${part === "" ? "" : ` ${part}`}`),
      ...(this.#recorded === undefined ? {} : { event: this.#recorded }),
    };
    return JSON.stringify(state);
  }

  /** Takes in a state that is no news. */
  #know({ signs, measures, words }: Told): void {
    if (signs.length > 0) this.#event = this.#set(signs);
    for (const measure of measures) this.#keep(...stateOf(measure, words));
  }

  /** Whether a hub has changed a sign since the device's last message: no event, but the device's next one may differ from it. */
  #isAdded({ signs }: Told): boolean {
    if (signs.length === 0) return false;
    const event = this.#set(signs);
    if (event === this.#recorded) return false;
    this.#event = event;
    return true;
  }

  #eventOf({ signs, says, stamp_ms }: Told): { event?: number } {
    if (signs.length === 0) return {};
    const before = this.#event;
    const event = this.#set(signs);
    this.#event = event;
    this.#recorded = event;
    const isNews = says === "all" && this.#isNewsAgain(signs, stamp_ms);
    return event === before && !isNews ? {} : { event };
  }

  /** Whether signs are news though they are as they were. */
  #isNewsAgain(signs: readonly Sign[], stamp_ms = 0): boolean {
    for (const { key, on, again } of signs)
      if (!on && again === "until ended" && this.#signs.has(key)) this.#ended.add(key);
    const happening = signs.some(
      ({ key, on, again }) => on && again === "until ended" && !this.#ended.has(key),
    );
    const isSame = stamp_ms > 0 && Math.abs(stamp_ms - this.#happened_ms) <= one_movement_ms;
    if (happening) this.#happened_ms = stamp_ms;
    return (happening && !isSame) || signs.some(({ again }) => again === undefined);
  }

  /** Notes the signs, and answers the bits of all. */
  #set(signs: readonly Sign[]): number {
    for (const { key, bit, on } of signs)
      if (this.#signs.has(key) || this.#signs.size < signs_max) this.#signs.set(key, { bit, on });
    let bits = 0;
    for (const { bit, on } of this.#signs.values()) if (on) bits |= 1 << bit;
    return bits;
  }

  #newMeasures({ measures, words, says }: Told): MeasureValues[] {
    return measures.filter((measure) => {
      const [key, value] = stateOf(measure, words);
      // The press of a button is never a state.
      const same = !measure.quantity.startsWith(action_prefix) && this.#values.get(key) === value;
      this.#keep(key, value);
      return says === "all" || !same;
    });
  }

  #keep(key: string, value: number | string): void {
    if (this.#values.has(key) || this.#values.size < quantities_max) this.#values.set(key, value);
  }

  #isRepeated({ stamp_ms, part }: Identity, delivery: Delivery): boolean {
    if (this.#recent.some((one) => one.stamp_ms === stamp_ms && one.part === part)) return true;
    // A broker that lost its memory sends again what it had at some time: more perhaps than is remembered here. In what comes live, an
    // older stamp is a hub's clock that was set back.
    const oldest_ms = Math.min(...this.#recent.map((one) => one.stamp_ms));
    return delivery === "late" && this.#recent.length === recent_max && stamp_ms < oldest_ms;
  }
}

/** By which a message of a sensor is known. */
interface Identity {
  readonly stamp_ms: number;
  readonly part: string;
}

const stateSchema = Type.Object({
  signs: Type.Array(Type.Tuple([Type.String(), Type.Integer({ minimum: 0, maximum: 3 }), Type.Boolean()])),
  recent: Type.Array(Type.String()),
  event: Type.Optional(Type.Integer()),
});
type State = Static<typeof stateSchema>;

function cursorStateOf(cursor: string | undefined): State | undefined {
  const state = parseIfWhole(cursor);
  return Value.Check(stateSchema, state) ? state : undefined;
}

/** The state that a measure tells of: of a word, which one it is. */
function stateOf(
  { quantity, value }: MeasureValues,
  words: Told["words"],
): [key: string, value: number | string] {
  const property = words?.get(quantity);
  return property === undefined ? [quantity, value] : [property, quantity];
}

function identityOf(text: string): Identity {
  const [stamp = "", part = ""] = text.split(" ");
  return { stamp_ms: Number.parseInt(stamp, 36), part };
}

/** Four characters for a part, so that a cursor stays short. */
function partOf({ part }: Told): string {
  return part === undefined ? "" : (Bun.hash.crc32(part) % 36 ** 4).toString(36);
}

/** Messages of a sensor that are known again: a broker sends twenty before the first is acknowledged, unless it is told otherwise. */
export const recent_max = 64;
const one_movement_ms = 1_000;
const signs_max = 24;
const quantities_max = 64;
