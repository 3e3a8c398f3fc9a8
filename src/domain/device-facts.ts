import { type Static, Type } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import type { Item } from "./records/item.ts";
import { identifying, orNull, record, textOrNull } from "./records/record-field.ts";

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
  },
  { additionalProperties: false },
);
export type DeviceFacts = Static<typeof DeviceFacts>;

const check = TypeCompiler.Compile(DeviceFacts);

/** Facts as they can be kept: texts and lists that are too long are cut; undefined where they are none. */
export function keptFacts({
  description,
  events,
  measures,
  never,
  battery,
  ...rest
}: DeviceFacts): DeviceFacts | undefined {
  const kept = {
    ...rest,
    ...(description === undefined ? {} : { description: cut(description, 120) }),
    ...(events === undefined ? {} : { events: { ...events, from: cut(events.from, 160) } }),
    ...(measures === undefined ? {} : { measures: measures.filter(isShort).slice(0, 24) }),
    ...(never === undefined ? {} : { never: never.map((text) => cut(text, 100)).slice(0, 6) }),
    ...(battery === undefined ? {} : { battery: cut(battery, 80) }),
  };
  return check.Check(kept) ? kept : undefined;
}

function cut(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text;
}

function isShort({ quantity, unit }: { readonly quantity: string; readonly unit: string }): boolean {
  return quantity.length <= 40 && unit.length <= 16;
}

/** The device of an item, and how its readings are made: a methods section is written from it. */
export const DeviceRecord = record("Device", {
  model: textOrNull("model, as the inventory has it or the device tells it"),
  vendor: textOrNull("who makes it"),
  // Of a driver's own tables, where model and vendor are what somebody typed.
  description: identifying("nobody", textOrNull("the device in a few words")),
  driver: identifying("nobody", textOrNull("the driver of the gateway that heard it last")),
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
  battery: orNull(Type.Number(), "charge of its battery, as it was told last (%)"),
  batteryvoltage: orNull(Type.Number(), "voltage of its battery, as it was told last (mV)"),
  batteryunit: identifying(
    "nobody",
    textOrNull("in what it tells its battery, before that becomes per cent or millivolts"),
  ),
});
export type DeviceRecord = Static<typeof DeviceRecord>;

/** As much as a store knows of the device of an item. */
interface KnownDevice {
  readonly record: Item;
  readonly listener?: string;
  readonly facts?: DeviceFacts;
  readonly expected_ms?: number;
  readonly battery_percent?: number;
  readonly battery_mv?: number;
}

export function deviceRecord({
  record,
  listener,
  facts,
  expected_ms,
  ...battery
}: KnownDevice): DeviceRecord {
  const { description, events, measures, never, blind_s, cadence_s, battery: unit } = facts ?? {};
  return {
    model: record.modelname,
    vendor: record.vendorname,
    description: description ?? null,
    driver: listener ?? null,
    events: events?.form ?? null,
    eventsfrom: events?.from ?? null,
    measures: measures ?? [],
    nevertells: never ?? [],
    blind: blind_s ?? null,
    cadence: cadence_s ?? (expected_ms === undefined ? null : expected_ms / 1000),
    battery: battery.battery_percent ?? null,
    batteryvoltage: battery.battery_mv ?? null,
    batteryunit: unit ?? null,
  };
}
