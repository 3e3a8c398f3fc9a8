import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Item } from "./records/item.ts";
import { identifying, orNull, record, textOrNull, unixTime } from "./records/record-field.ts";

/**
 * Facts of a device that its readings do not tell: how its driver makes them, and what it never tells. A driver makes them of its table of
 * models, or of what the device itself says of itself, so that a methods section can be written from them.
 */
export const DeviceFacts = Type.Object(
  {
    /** The device in a few words: `wall motion sensor`. */
    description: Type.Optional(Type.String({ maxLength: 120 })),
    /** `received`: bit by bit as the device sent it. `translated`: made of something else. `from`: what that is, in the words of its protocol. */
    events: Type.Optional(
      Type.Object(
        {
          form: Type.Union([Type.Literal("received"), Type.Literal("translated")]),
          from: Type.String({ maxLength: 160 }),
        },
        { additionalProperties: false },
      ),
    ),
    /** Quantities that it is able to measure. */
    measures: Type.Optional(
      Type.Array(
        Type.Object(
          { quantity: Type.String({ maxLength: 40 }), unit: Type.String({ maxLength: 16 }) },
          { additionalProperties: false },
        ),
        { maxItems: 24 },
      ),
    ),
    /** States that one would expect it to tell and that it never tells: `the end of a movement`. */
    never: Type.Optional(Type.Array(Type.String({ maxLength: 100 }), { maxItems: 6 })),
    /** For how long after an event it sees nothing, seconds. */
    blind_s: Type.Optional(Type.Number({ minimum: 0, maximum: 86_400 })),
    /** How often it is heard although nothing happens, seconds, where its model is known to differ from others of its kind. */
    cadence_s: Type.Optional(Type.Number({ minimum: 1, maximum: 31 * 86_400 })),
    /** In what it tells its battery, before that becomes per cent or millivolts: `half per cent`. */
    battery: Type.Optional(Type.String({ maxLength: 80 })),
    /** Its model, the version of its firmware and the date of that, as the device itself tells them. */
    model: Type.Optional(Type.String({ maxLength: 80 })),
    firmware: Type.Optional(Type.String({ maxLength: 80 })),
    datecode: Type.Optional(Type.String({ maxLength: 80 })),
  },
  { additionalProperties: false },
);
export type DeviceFacts = Static<typeof DeviceFacts>;

/** Facts of a device from a time on, unix milliseconds. */
export const DatedFacts = Type.Object(
  { from_ms: Type.Integer({ minimum: 0 }), facts: DeviceFacts },
  { additionalProperties: false },
);
export type DatedFacts = Static<typeof DatedFacts>;

/** The history of a device, newest first: each entry holds until the one before it begins. */
export const FactsHistory = Type.Array(DatedFacts, { maxItems: 20 });
export type FactsHistory = Static<typeof FactsHistory>;

const history_max = 20;
/** Characters of a history as JSON: the oldest are left out beyond. A report with the histories of many devices stays within its bounds. */
const history_length_max = 8_000;

/** A driver learns in this time how the readings of a device are made: what differs in it is no change of the device. */
const learning_ms = 3_600_000;

/**
 * The history after a driver has told facts. More or fewer facts are no change of the device: drivers learn facts one after the other, and
 * begin again at each start. The answer is the same array where nothing changes.
 */
export function historyAfter(
  history: readonly DatedFacts[],
  facts: DeviceFacts,
  at_ms: number,
): readonly DatedFacts[] {
  const [last, ...earlier] = history;
  if (last === undefined) return [{ from_ms: at_ms, facts }];
  if (agrees(last.facts, facts)) return history;
  const isLearning = at_ms - last.from_ms < learning_ms && isSameVersion(last.facts, facts);
  if (isLearning || agrees(facts, last.facts)) return bounded([{ ...last, facts }, ...earlier]);
  return bounded([{ from_ms: Math.max(at_ms, last.from_ms), facts }, ...history]);
}

/** One history of two of the same device: `told` counts from its beginning on, `held` before. */
export function joinedHistory(
  told: readonly DatedFacts[],
  held: readonly DatedFacts[],
): readonly DatedFacts[] {
  const begin_ms = told.at(-1)?.from_ms ?? Number.POSITIVE_INFINITY;
  const before = held.filter(({ from_ms }) => from_ms < begin_ms).toReversed();
  return [...before, ...told.toReversed()].reduce<readonly DatedFacts[]>(
    (history, { from_ms, facts }) => historyAfter(history, facts, from_ms),
    [],
  );
}

function isSameVersion(one: DeviceFacts, other: DeviceFacts): boolean {
  return (["model", "firmware", "datecode"] as const).every((name) => one[name] === other[name]);
}

/** Whether `less` contradicts no fact of `facts`, and has no further ones. */
function agrees(facts: DeviceFacts, less: DeviceFacts): boolean {
  const { measures: all = [], ...known } = facts;
  const { measures = [], ...told } = less;
  const units = new Map(all.map(({ quantity, unit }) => [quantity, unit]));
  return (
    measures.every(({ quantity, unit }) => units.get(quantity) === unit) &&
    Object.entries(told).every(([name, value]) => Bun.deepEquals(known[name as keyof typeof known], value))
  );
}

function bounded(history: readonly DatedFacts[]): readonly DatedFacts[] {
  let kept = history.slice(0, history_max);
  while (kept.length > 1 && JSON.stringify(kept).length > history_length_max) kept = kept.slice(0, -1);
  return kept;
}

const check = TypeCompiler.Compile(DeviceFacts);

/** Facts as they can be kept: texts and lists that are too long are cut; undefined where they are none. */
export function keptFacts({
  description,
  events,
  measures,
  never,
  battery,
  model,
  firmware,
  datecode,
  ...rest
}: DeviceFacts): DeviceFacts | undefined {
  const short = Object.entries({ battery, model, firmware, datecode }).flatMap(([name, text]) =>
    text === undefined ? [] : [[name, cut(text, 80)]],
  );
  const kept = {
    ...rest,
    ...(description === undefined ? {} : { description: cut(description, 120) }),
    ...(events === undefined ? {} : { events: { ...events, from: cut(events.from, 160) } }),
    ...(measures === undefined ? {} : { measures: measures.filter(isShort).slice(0, 24) }),
    ...(never === undefined ? {} : { never: never.map((text) => cut(text, 100)).slice(0, 6) }),
    ...Object.fromEntries(short),
  };
  return check.Check(kept) ? kept : undefined;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function isShort({ quantity, unit }: { readonly quantity: string; readonly unit: string }): boolean {
  return quantity.length <= 40 && unit.length <= 16;
}

/** A version, a date or a model that is a number, as makers write them, and no words of somebody. */
function isVersion(text: string): boolean {
  return /^v?\d[\w.+-]{0,40}$/i.test(text);
}

/** Fields that may change over time: firmware, and how readings are made. */
const madeFields = {
  firmware: identifying(
    { isKnown: isVersion },
    textOrNull("version of its firmware, as the device tells it"),
  ),
  datecode: identifying(
    { isKnown: isVersion },
    textOrNull("date of its firmware or of its making, as the device tells it"),
  ),
  // Of a driver's own tables, where model and vendor are what somebody typed.
  description: identifying("nobody", textOrNull("the device in a few words")),
  events: Type.Union([Type.Literal("received"), Type.Literal("translated"), Type.Null()], {
    description:
      "received: events (of devices that have none, readings) are what the device sent; translated: they are made of something else",
  }),
  eventsfrom: identifying("nobody", textOrNull("what events are made of, in the words of its protocol")),
  measures: Type.Array(
    Type.Object({
      quantity: Type.String({ description: "name of the quantity" }),
      unit: Type.String({ description: "unit that it is recorded in; empty where it has none" }),
    }),
    { description: "quantities that it is able to measure" },
  ),
  nevertells: Type.Array(Type.String(), {
    description: "states that one would expect of it and that it never tells",
  }),
  blind: orNull(Type.Number(), "for how long after an event it sees nothing (s)"),
  cadence: orNull(
    Type.Number(),
    "how often it is heard although nothing happens (s); null where it is silent until it is used",
  ),
  batteryunit: identifying(
    "nobody",
    textOrNull("in what it tells its battery, before that becomes per cent or millivolts"),
  ),
};

/** A device as it was in a time, and how its readings were made then. */
export const PastDevice = record("Device in a time", {
  start: unixTime({ description: "when this was first known" }),
  stop: orNull(unixTime(), "when it was known to be otherwise; null: it is so now"),
  model: identifying({ isKnown: isVersion }, textOrNull("model, as the device itself told it")),
  ...madeFields,
});

/** The device of an item, and how its readings are made: a methods section is written from it. */
export const DeviceRecord = record("Device", {
  model: textOrNull("model, as the inventory has it or the device tells it"),
  vendor: textOrNull("who makes it"),
  driver: identifying("nobody", textOrNull("the driver of the gateway that heard it last")),
  ...madeFields,
  battery: orNull(Type.Number(), "charge of its battery, as it was told last (%)"),
  batteryvoltage: orNull(Type.Number(), "voltage of its battery, as it was told last (mV)"),
  history: Type.Array(PastDevice, {
    description: "what it was from when to when, newest first; the first is what it is now",
  }),
});
export type DeviceRecord = Static<typeof DeviceRecord>;

/** As much as a store knows of the device of an item. */
interface KnownDevice {
  readonly record: Item;
  readonly listener?: string;
  readonly history?: readonly DatedFacts[];
  readonly expected_ms?: number;
  readonly battery_percent?: number;
  readonly battery_mv?: number;
}

export function deviceRecord(known: KnownDevice): DeviceRecord {
  const { record, listener, history = [], expected_ms, battery_percent, battery_mv } = known;
  const cadence = expected_ms === undefined ? null : expected_ms / 1000;
  const seconds = (ms: number) => Math.floor(ms / 1000);
  return {
    model: record.modelname,
    vendor: record.vendorname,
    driver: listener ?? null,
    ...made(history[0]?.facts ?? {}, cadence),
    battery: battery_percent ?? null,
    batteryvoltage: battery_mv ?? null,
    history: history.map(({ from_ms, facts }, place) => ({
      start: seconds(from_ms),
      stop: place === 0 ? null : seconds((history[place - 1] as DatedFacts).from_ms),
      model: facts.model ?? null,
      ...made(facts, cadence),
    })),
  };
}

/** @param cadence of its kind, seconds */
function made(facts: DeviceFacts, cadence: number | null) {
  const { description, events, measures, never, blind_s, cadence_s, battery, firmware, datecode } = facts;
  return {
    firmware: firmware ?? null,
    datecode: datecode ?? null,
    description: description ?? null,
    events: events?.form ?? null,
    eventsfrom: events?.from ?? null,
    measures: measures ?? [],
    nevertells: never ?? [],
    blind: blind_s ?? null,
    cadence: cadence_s ?? cadence,
    batteryunit: battery ?? null,
  };
}
