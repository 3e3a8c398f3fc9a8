import { day_ms, hour_ms } from "../../../../../src/base/time.ts";

/*
 * Who may record what, by what people asked for and what each side can know of it. It knows nothing of the store: it is told what people do, and between
 * whom news has travelled.
 */

export type Side = "box" | "central";

/** Since when each side can know something, unix milliseconds. */
type Known = Partial<Record<Side, number>>;

/** A time that somebody asked not to record. */
interface Ask {
  readonly home: number;
  readonly why: Why;
  /** Addresses of devices; absent: all. */
  readonly devices: ReadonlySet<string> | undefined;
  readonly from_ms: number;
  /** From when on nothing need be kept: a box that did not know the time reaches back to when it did. */
  readonly early_ms: number;
  /** The end as people mean it. */
  until_ms: number;
  /** Who knows of it. Nobody any more, where the only card that knew is lost. */
  known: Known;
  /** Until when a side that was told of an end keeps nothing of it: it may not know that another side has ended it before. */
  late_ms: number;
  /** Who knows of the end. As long as the box does not, it need not record. */
  endKnown: Known;
  /** A side may have heard of it in an upload that failed. */
  maybe: Partial<Record<Side, boolean>>;
}

export type Why = "pause" | "withdrawn" | "ended" | "restricted" | "erased";

/** When something happened, and to which device; `unsure` where the box did not know the time. */
export interface Fact {
  readonly home: number;
  readonly address: string;
  readonly at_ms: number;
  readonly unsure: boolean;
}

export class ConsentModel {
  readonly #asks: Ask[] = [];

  /** Somebody asks at a side. `until_ms`: the end, where it is told at once. */
  ask(of: {
    home: number;
    why: Why;
    side: Side;
    now_ms: number;
    from_ms?: number;
    early_ms?: number;
    until_ms?: number | undefined;
    devices?: ReadonlySet<string> | undefined;
  }): void {
    const { home, why, side, now_ms, devices, from_ms = now_ms, until_ms } = of;
    this.#asks.push({
      ...{ home, why, devices, from_ms, early_ms: Math.min(from_ms, of.early_ms ?? from_ms) },
      until_ms: until_ms ?? Number.POSITIVE_INFINITY,
      late_ms: 0,
      known: { [side]: now_ms },
      endKnown: until_ms === undefined ? {} : { [side]: now_ms },
      maybe: {},
    });
  }

  /** The asks of a home that are not over by what a side knows. */
  open(home: number, side: Side, why: Why, now_ms: number): readonly Ask[] {
    return this.#asks.filter(
      (ask) =>
        ask.home === home && ask.why === why && ask.known[side] !== undefined && now_ms < endFor(ask, side),
    );
  }

  /** Whether central knows of any time of a home that is not over, and that a box is told when it asks. */
  isOpen(home: number, now_ms: number): boolean {
    return this.#asks.some(
      (ask) =>
        ask.home === home &&
        ask.why !== "erased" &&
        (ask.known.central ?? now_ms) < now_ms &&
        now_ms < endFor(ask, "central"),
    );
  }

  /** Somebody ends, at a side, what this side knows of these kinds. An end never moves later. */
  end(
    home: number,
    side: Side,
    whys: readonly Why[],
    now_ms: number,
    { at_ms = now_ms, isOfThem = () => true }: { at_ms?: number; isOfThem?: (ask: Ask) => boolean } = {},
  ): void {
    for (const ask of this.#asks) {
      if (ask.home !== home || !whys.includes(ask.why) || !isOfThem(ask)) continue;
      if (ask.known[side] === undefined && ask.maybe[side] !== true && !isLost(ask)) continue;
      if (now_ms >= endFor(ask, side) && ask.endKnown[side] !== undefined) continue;
      const before_ms = ask.until_ms;
      ask.until_ms = Math.min(before_ms, Math.max(at_ms, ask.from_ms));
      // Whether a side has ended what it may have heard of is not sure.
      if (ask.known[side] === undefined) {
        ask.late_ms = Math.max(ask.late_ms, before_ms);
        continue;
      }
      // Who knew of an end that is no later goes on to know it.
      const knew = ask.until_ms < before_ms ? {} : ask.endKnown;
      ask.endKnown = { ...knew, [side]: now_ms };
      // An end that was never sure is now.
      ask.late_ms = Math.max(Number.isFinite(ask.late_ms) ? ask.late_ms : 0, at_ms);
    }
  }

  /** An upload of a home that began at a time has ended well: each side knows what the other knew then. */
  synchronised(home: number, began_ms: number, now_ms: number): void {
    for (const ask of this.#asks) {
      if (ask.home !== home) continue;
      for (const [from, to] of both) {
        pass(ask.known, from, to, began_ms, now_ms);
        pass(ask.endKnown, from, to, began_ms, now_ms);
      }
    }
  }

  /** Somebody erases at central what a home has recorded until now: with the next upload the box hears of it. What comes later is recorded. */
  erase(home: number, now_ms: number): void {
    this.ask({ home, why: "erased", side: "central", now_ms, from_ms: 0, until_ms: now_ms });
    for (const ask of this.#asks) if (ask.why === "erased") ask.endKnown = { box: 0, central: 0 };
  }

  /** The box of a home has asked central whether there is anything for it, from a time on: it was told everything but erasures, and pauses that are long over. */
  told(home: number, began_ms: number, now_ms: number): void {
    for (const ask of this.#asks) {
      if (ask.home !== home || ask.why === "erased" || endFor(ask, "central") < now_ms - day_ms) continue;
      pass(ask.known, "central", "box", began_ms, now_ms);
      pass(ask.endKnown, "central", "box", began_ms, now_ms);
    }
  }

  /** An upload of a home has begun, and may carry anything. */
  maySynchronise(home: number): void {
    for (const ask of this.#asks) if (ask.home === home) ask.maybe = { box: true, central: true };
  }

  /** The box of a home goes on with what it knew at a time, or with nothing; and with what central knows now, where it is asked. */
  boxWentBack(home: number, to_ms: number, asksCentral: boolean, now_ms: number): void {
    for (const ask of this.#asks) {
      if (ask.home !== home) continue;
      for (const known of [ask.known, ask.endKnown]) {
        if ((known.box ?? 0) > to_ms) delete known.box;
        if (asksCentral && known.central !== undefined) known.box ??= now_ms;
      }
    }
  }

  /** The ask by which a side keeps nothing of something any more, in words; undefined: there is none, or the side may not know of it yet. */
  forbids(fact: Fact, side: Side, now_ms: number): string | undefined {
    const found = this.#of(fact).find(
      (ask) =>
        fact.at_ms >= ask.from_ms + margin_ms &&
        fact.at_ms < ask.until_ms - margin_ms &&
        (ask.known[side] ?? Number.POSITIVE_INFINITY) + hour_ms <= now_ms &&
        // The time that it got may be another, by which a pause that is told later does not find it.
        (!fact.unsure || (ask.known.box ?? Number.POSITIVE_INFINITY) <= fact.at_ms),
    );
    return found && textOf(found);
  }

  /** The restriction by which a side shows nothing of a home any more, in words. */
  hides(home: number, side: Side, now_ms: number): string | undefined {
    const found = this.open(home, side, "restricted", now_ms).find(
      ({ known }) => (known[side] as number) + margin_ms <= now_ms,
    );
    return found && textOf(found);
  }

  /** Whether something must be kept: nobody asked otherwise, and nobody could believe so. */
  owes(fact: Fact): boolean {
    const around_ms = fact.unsure ? unsure_ms : margin_ms;
    return !this.#of(fact).some((ask) => {
      const late_ms = isLost(ask) ? Number.POSITIVE_INFINITY : endFor(ask, "box");
      const reachesBack = ask.early_ms < ask.from_ms && !fact.unsure;
      return fact.at_ms >= ask.early_ms - (reachesBack ? 0 : around_ms) && fact.at_ms < late_ms + around_ms;
    });
  }

  /** All asks that a home, or a device of it, is concerned of, in words. */
  asksText(fact: Fact): string {
    return this.#of(fact).map(textOf).join("\n");
  }

  #of(fact: Fact): Ask[] {
    return this.#asks.filter(
      ({ home, devices }) => home === fact.home && devices?.has(fact.address) !== false,
    );
  }
}

function textOf({ why, from_ms, until_ms, known, endKnown, devices }: Ask): string {
  const text = (ms: number | undefined) =>
    ms === undefined
      ? "never"
      : ms === Number.POSITIVE_INFINITY
        ? "nobody resumes"
        : new Date(ms).toISOString();
  const of = devices === undefined ? "" : ` of ${[...devices].join(", ")}`;
  return `${why}${of} from ${text(from_ms)} until ${text(until_ms)}, known at the box ${text(known.box)}, at central ${text(known.central)}; its end at the box ${text(endKnown.box)}`;
}

const both: readonly (readonly [Side, Side])[] = [
  ["box", "central"],
  ["central", "box"],
];

/** Until when a side keeps nothing of it, by what it knows. */
function endFor({ until_ms, late_ms, endKnown }: Ask, side: Side): number {
  const known_ms = endKnown[side];
  return known_ms === undefined ? Number.POSITIVE_INFINITY : Math.max(until_ms, late_ms, known_ms);
}

function isLost({ known }: Ask): boolean {
  return known.box === undefined && known.central === undefined;
}

function pass(known: Known, from: Side, to: Side, began_ms: number, now_ms: number): void {
  const since_ms = known[from];
  if (since_ms !== undefined && since_ms <= began_ms) known[to] ??= now_ms;
}

/** Around a moment at which somebody asks: a command takes a moment too. */
const margin_ms = 5_000;
/** By how much the time of something may be unknown. */
const unsure_ms = 24 * hour_ms;
