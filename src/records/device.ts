import { type Static, Type } from "@sinclair/typebox";
import type { DeviceFacts } from "../device-facts.ts";
import { orNull, record, textOrNull } from "./field.ts";
import { identifying } from "./identifying.ts";
import type { Item } from "./items.ts";

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
export interface KnownDevice {
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
