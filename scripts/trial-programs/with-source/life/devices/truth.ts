/**
 * A record of everything that happened at the devices of a home, and whether what a gateway has is true. Imports nothing: not the store, not a driver. What may be lost, and what a
 * value on the wire means, is said in the protocols' own words where the devices are (household.ts).
 */

export type Values = Readonly<Record<string, number | string | null>>;

/** Something that a device told, or keeps until it is asked. */
export interface Fact {
  readonly address: string;
  readonly series: string;
  /** When it really was. */
  readonly at_ms: number;
  readonly values: Values;
  /** Error of the device's own way to tell the time; 0 for what is told at once. */
  within_ms: number;
  /** Error of the device's own clock, where a gateway has no measured one to correct it by. */
  readonly unmeasured_ms?: number;
  /**
   * `live`: by the gateway's clock at the arrival. `stamped`: so too, but that the device's own clock helps where the gateway does not know the time. `device`: by the
   * device's own clock. `either`: whichever fits.
   */
  readonly dated: "live" | "stamped" | "device" | "either";
  /** When a gateway may have heard it: more than once where a device tells again what nobody confirmed. */
  readonly told_ms: number[];
  /** It must be found. What need not may be found. */
  owed: boolean;
}

/** A reading as it is served. */
export interface Found {
  readonly address: string;
  readonly series: string;
  readonly stamp_ms: number;
  readonly values: Values;
  /** How its time was made, in the words of the interface. */
  readonly clock: string;
}

/** Knowledge that a machine had of the time: within a boot, from a moment on. */
export interface Knowledge {
  readonly from_ms: number;
  readonly boot: number;
  /** `leapt`: it shows a wrong time, and is believed to be right. */
  readonly clock: "unknown" | "right" | "leapt";
}

/** How the time of a reading may have been made, by what its gateway knew when it heard of it and learnt later in that boot. */
function clocksOf(fact: Fact, known: readonly Knowledge[]): ReadonlySet<string> {
  const device = ["device", "device_unmeasured"];
  if (fact.dated === "device") return new Set([...device, "corrected", "bounded"]);
  // A device that keeps it until somebody connects does not say when that was.
  if (fact.told_ms.length === 0) return new Set([...device, "synchronised", "corrected", "bounded"]);
  return new Set(fact.told_ms.flatMap((told_ms) => clocksAt(told_ms, fact.dated, known)));
}

function clocksAt(told_ms: number, dated: Fact["dated"], known: readonly Knowledge[]): string[] {
  const at = known.findLast(({ from_ms }) => from_ms <= told_ms);
  const later = known.filter(({ from_ms, boot }) => boot === at?.boot && from_ms > told_ms);
  const learns = later.some(({ clock }) => clock === "right");
  const live = {
    right: ["synchronised"],
    leapt: ["synchronised", "corrected"],
    unknown: [learns ? "corrected" : "bounded"],
  }[at?.clock ?? "unknown"];
  // A clock that is set within a moment of the arrival, or leaps: either holds.
  const edge = known.some(({ from_ms }) => Math.abs(from_ms - told_ms) <= edge_ms);
  const helped = dated === "either" || (dated === "stamped" && (edge || at?.clock !== "right"));
  return [
    ...live,
    ...(edge ? ["synchronised", "corrected"] : []),
    ...(helped ? ["device", "device_unmeasured"] : []),
    // What is told again hours later, by a device whose clock nobody has measured.
    ...(dated === "either" ? ["bounded"] : []),
  ];
}

/** How far a stamp may be from the truth, besides the error of the device. */
const error_ms: Readonly<Record<string, number>> = {
  synchronised: 1_000,
  corrected: 2_500,
  bounded: 7 * 3_600_000,
  device: 2_000,
  device_unmeasured: 2_000,
};
/** The clock of a device strays by so much more than its last known offset; household.ts makes none that strays by more. */
const drift_max = 50e-6;
/** A clock that is set while a reading comes in. Ingest looks at it every 15 s. */
const edge_ms = 60_000;

/**
 * How far the clock of a device may have strayed from any that is right, in a stretch in which its gateway did not
 * know the time: it is compared before the stretch, or after it.
 */
function strayed_ms({ at_ms }: Fact, known: readonly Knowledge[]): number {
  const right = known.findLastIndex(({ from_ms, clock }) => clock === "right" && from_ms <= at_ms);
  const from_ms = known[right + 1]?.from_ms ?? Number.POSITIVE_INFINITY;
  const until_ms = known.find(({ clock }, index) => index > right && clock === "right")?.from_ms ?? at_ms;
  return from_ms > at_ms ? 0 : (until_ms - from_ms) * drift_max;
}

/** All that is wrong with what was found, a line each. */
export function wrongIn(
  facts: readonly Fact[],
  found: readonly Found[],
  known: readonly Knowledge[],
): string[] {
  const streamOf = ({ address, series, values }: Fact | Found) =>
    `${address} ${series} ${values["quantity"] ?? ""}`;
  const facted = Map.groupBy(facts, streamOf);
  const rows = Map.groupBy(
    found.toSorted((one, other) => one.stamp_ms - other.stamp_ms),
    streamOf,
  );
  const streams = [...new Set([...rows.keys(), ...facted.keys()])];
  return streams.flatMap((name) => wrongInStream(facted.get(name) ?? [], rows.get(name) ?? [], known));
}

function wrongInStream(
  facts: readonly Fact[],
  rows: readonly Found[],
  known: readonly Knowledge[],
): string[] {
  const fits = (fact: Fact, row: Found) =>
    isSame(fact.values, row.values) &&
    Math.abs(fact.at_ms - row.stamp_ms) <=
      fact.within_ms +
        (error_ms[row.clock] ?? 0) +
        (row.clock.startsWith("device") ? strayed_ms(fact, known) : 0) +
        (row.clock === "device_unmeasured" ? (fact.unmeasured_ms ?? 0) : 0);
  const may = new Map(facts.map((fact) => [fact, clocksOf(fact, known)]));
  const { ofRow, ofFact } = paired(
    facts,
    rows,
    (fact, row) => fits(fact, row) && may.get(fact)?.has(row.clock) === true,
  );
  const spare = (row: Found) =>
    facts
      .filter((fact) => !ofFact.has(fact) && isSame(fact.values, row.values))
      .toSorted((one, other) => Math.abs(one.at_ms - row.stamp_ms) - Math.abs(other.at_ms - row.stamp_ms))[0];
  const never = rows
    .filter((row) => !ofRow.has(row))
    .map((row) => {
      const fact = spare(row);
      return fact !== undefined && fits(fact, row)
        ? `${describe(row)} has clock ${row.clock}, and may have ${[...(may.get(fact) ?? [])].join(", ")}`
        : `${describe(row)} with clock ${row.clock} never was${hintOf(row, facts, fact)}`;
    });
  const lost = facts
    .filter((fact) => fact.owed && !ofFact.has(fact))
    .map(
      (fact) => `${describe({ ...fact, stamp_ms: fact.at_ms })} is lost, told ${whenOf(fact.told_ms.at(-1))}`,
    );
  return [...never, ...lost];
}

/**
 * Pairs facts and rows, each at most once, so that the most owed facts and the most rows have a partner: no other way
 * to pair them leaves fewer without. A partner once found is changed, never taken away.
 */
function paired(
  facts: readonly Fact[],
  rows: readonly Found[],
  fit: (fact: Fact, row: Found) => boolean,
): { ofRow: Map<Found, Fact>; ofFact: Map<Fact, Found> } {
  const ofRow = new Map<Found, Fact>();
  const ofFact = new Map<Fact, Found>();
  const rowsOf = new Map(
    facts.map((fact) => [
      fact,
      nearestFirst(
        rows.filter((row) => fit(fact, row)),
        fact,
      ),
    ]),
  );
  const factsOf = new Map(rows.map((row) => [row, facts.filter((fact) => rowsOf.get(fact)?.includes(row))]));
  const pair = (fact: Fact, row: Found) => {
    ofRow.set(row, fact);
    ofFact.set(fact, row);
  };
  const forFact = { partners: rowsOf, holders: ofRow, pair };
  const forRow = { partners: factsOf, holders: ofFact, pair: (row: Found, fact: Fact) => pair(fact, row) };
  for (const fact of facts) if (fact.owed) seek(fact, forFact);
  for (const row of rows) if (!ofRow.has(row)) seek(row, forRow);
  return { ofRow, ofFact };
}

/** Finds a partner of one side for one of the other, also one whose holder then finds another. */
function seek<One, Other>(
  one: One,
  side: {
    readonly partners: ReadonlyMap<One, readonly Other[]>;
    readonly holders: ReadonlyMap<Other, One>;
    readonly pair: (one: One, other: Other) => void;
  },
  tried = new Set<Other>(),
): boolean {
  for (const other of side.partners.get(one) ?? []) {
    if (tried.has(other)) continue;
    tried.add(other);
    const holder = side.holders.get(other);
    if (holder !== undefined && !seek(holder, side, tried)) continue;
    side.pair(one, other);
    return true;
  }
  return false;
}

function nearestFirst(rows: readonly Found[], { at_ms }: Fact): Found[] {
  return rows.toSorted((one, other) => Math.abs(one.stamp_ms - at_ms) - Math.abs(other.stamp_ms - at_ms));
}

function isSame(one: Values, other: Values): boolean {
  const keys = Object.keys(one);
  return keys.every((key) => {
    const [mine, its] = [one[key], other[key]];
    if (typeof mine === "number" && typeof its === "number")
      return Math.abs(mine - its) <= 1e-9 * Math.max(1, Math.abs(mine));
    return mine === its;
  });
}

function hintOf(row: Found, stream: readonly Fact[], same: Fact | undefined): string {
  if (same !== undefined)
    return `: one was at ${whenOf(same.at_ms)}, ${(row.stamp_ms - same.at_ms) / 1_000} s before`;
  const near = stream.find(({ at_ms }) => Math.abs(at_ms - row.stamp_ms) < 10_000);
  return near === undefined ? "" : `: what was is ${JSON.stringify(near.values)}`;
}

function describe({
  address,
  series,
  stamp_ms,
  values,
}: Pick<Found, "address" | "series" | "stamp_ms" | "values">): string {
  return `${series} ${JSON.stringify(values)} of ${address} at ${whenOf(stamp_ms)}`;
}

function whenOf(at_ms: number | undefined): string {
  return at_ms === undefined ? "never" : new Date(at_ms).toISOString();
}
