/**
 * Writes docs/sensors.md from the drivers' own tables: which devices Lintel hears, what it records of them, and what was tested.
 *
 *   bun scripts/supported-sensors.ts
 */
import { createRequire } from "node:module";
import { join } from "node:path";
import type { Models } from "zigbee-herdsman";
import { prepareDefinition } from "zigbee-herdsman-converters";
import type { Definition, DefinitionWithExtend } from "zigbee-herdsman-converters/lib/types";
import { objectTypes } from "../drivers/bthome/objects.ts";
import type { Product } from "../drivers/driver.ts";
import { drivers, peripherals } from "../drivers/index.ts";
import type { Hub } from "../drivers/mqtt/hub.ts";
import { hubs } from "../drivers/mqtt/hubs.ts";
import { signWords } from "../drivers/mqtt/words.ts";
import { attributeRows, commandRows } from "../drivers/zigbee/clusters.ts";
import { ConverterTranslator, neverTold } from "../drivers/zigbee/converters.ts";
import { sensorModels, zoneSubtypes } from "../drivers/zigbee/models.ts";
import { type SimulatedModel, simulatedModels } from "../drivers/zigbee/simulator/models.ts";
import { eventWords } from "../src/domain/event-words.ts";
import { quantityOf } from "../src/domain/quantities.ts";
import { wrapped } from "./wrap-markdown.ts";

export const sensorsPage = "docs/sensors.md";

/** The page, as the tables have it now. */
export function sensorsText(): string {
  return wrapped(pageText());
}

function pageText(): string {
  const definitions = everyDefinition();
  const makers = [...Map.groupBy(definitions.filter(isSensor), ({ vendor }) => vendor)].toSorted(
    ([one], [other]) => one.localeCompare(other, "en"),
  );
  const count = makers.reduce((sum, [, models]) => sum + models.length, 0);
  return `# Devices that are heard

This page lists the devices that Lintel hears, and what it records of each:

- [Zigbee sensors](#zigbee-sensors)
- [sensors of other hubs](#sensors-of-other-hubs-by-mqtt)
- [Bluetooth sensors that broadcast](#bluetooth-sensors-that-broadcast)
- [pill boxes, scales, belts, thermometers and watches](#pill-boxes-scales-belts-thermometers-and-watches)
- [every Zigbee model with a definition](#every-model-with-a-definition-that-is-a-sensor)

\`bun scripts/supported-sensors.ts\` makes this page from the drivers' own tables, and a test compares both.

# Zigbee sensors

You need a stick for which zigbee-herdsman has an adapter, and the section \`[zigbee]\`: [drivers/zigbee](../drivers/zigbee/README.md).

## How a sensor is heard

Lintel records the status of an IAS zone as the sensor sends it, for every model. It decodes all other messages in one of two ways:

- By the model's definition in zigbee-herdsman-converters ${versionOf()}, if it has one. ${definitions.length} models have a definition, and ${count} of
  them are sensors. They report presence, an open door, water or a press, or a quantity that nobody sets. The others are lamps, locks,
  valves and similar devices, of which Lintel records nothing. ° marks sensors that report a beginning and never an end. Their
  converters invent an end by a timer, which Lintel does not record.
- By the clusters of the [last table of this chapter](#models-without-a-definition), for any other model.

The result of a definition becomes bits of an event, a measure, or the state of a battery. If a device has two properties for one bit, the
first one of this table sets the bit, and the other is a measure of 1 or 0.

${table(
  ["property", "bit", "set if the property is", "an event for every message"],
  Object.entries(eventWords).map(([name, { bit, inverted, happens }]) => [
    `\`${name}\``,
    String(bit),
    inverted ? "false" : "true",
    happens ? "if set, until the sensor has reported an end" : "no, only for a change",
  ]),
)}

Numbers are measures, with their name in zigbee-herdsman-converters and in the units of [quantities.md](quantities.md). Another property
that is true or false is a measure of 1 or 0. A word that a definition lists is a measure of 1, with the word in its name:
\`action_single\`, \`motion_state_large\`. Lintel counts other text, lists and structures, and does not keep them.
It records only what a message says. If a sensor never reports the end of a motion, no table has that end.

## Tried through the program

A simulator sends the bytes of these sensors on a pseudo-terminal to the program that people start. The test reads their events and
measures from the interface (\`test/shipped/any-sensor.test.ts\`). The bytes follow the specification of the cluster, or the
code that reads a maker's own messages. No real device of these models has been tested.

${table(["model", "maker", "what it is", "heard by", "recorded in the trial"], triedRows())}

## Tried against its definition

\`./scripts/trials fuzz converters\` tests the ${count} sensors at the end of this page. It makes messages of the clusters, commands and data
points that each definition accepts. Lintel must record what the definition returns. The command prints for how many sensors that was
possible, and the reason for each other one.

## Models without a definition

${table(
  ["cluster", "attribute", "property", "unit"],
  attributeRows.map(({ cluster, attribute, property, unit = "" }) => [
    `\`${cluster}\``,
    `\`${attribute}\``,
    `\`${property}\``,
    unit,
  ]),
)}

Commands of \`genOnOff\` are presses of a button: ${Object.values(commandRows)
    .map((name) => `\`action_${name}\``)
    .join(", ")}. \`onOff\` is a contact on devices that sleep. When a device joins, Lintel binds
each cluster and requests its reports. The zone types ${[...zoneSubtypes].map(([type, subtype]) => `0x${type.toString(16).padStart(4, "0")} (${subtype})`).join(" and ")} say what kind of item it is.

# Sensors of other hubs, by MQTT

You need an MQTT broker to which the hub connects, and the section \`[mqtt]\`: [drivers/mqtt](../drivers/mqtt/README.md) has the settings of
each hub.

${hubs.map(hubText).join("\n\n")}

# Bluetooth sensors that broadcast

You need [Bluetooth](bluetooth.md), built in, on USB or on a serial line, and the section \`[ble]\`: [drivers/ble](../drivers/ble/README.md). Lintel reads every
device that broadcasts in the format BTHome v2, by its objects:

${table(["recorded as", "objects"], grouped(objectRows()))}

# Pill boxes, scales, belts, thermometers and watches

Lintel hears these devices over Bluetooth, by the section \`[ble]\`. Polled pill boxes and watches on a wire are the exception. The page
\`…/device\` of each device also lists what such a device never reports ([device.md](device.md)).

${table(["device", "needs", "recorded", "made from", "never reported"], productRows())}

# Every model with a definition that is a sensor

${makers.map(([maker, models]) => `**${maker}** (${models.length}): ${models.map((one) => `${one.model}${neverTold(one).length > 0 ? "°" : ""}`).join(", ")}`).join("\n\n")}
`;
}

/** A hub's own words, and the bit or measure that each becomes. */
function hubText({ title, prefix, messages, never, tells }: Hub): string {
  const topics =
    messages.length === 0
      ? "the topics that its devices describe"
      : messages.map((topic) => `\`${prefix}/${topic}\``).join(", ");
  const untold = `It never reports ${never.join(", nor ")}.`;
  if (tells === undefined)
    return `**${title}** (${topics}): every model of the list below that is paired there, as with Lintel's own stick. ${untold}`;
  const rows = grouped(Object.entries(tells).map(([theirs, ours]) => [recordedAs(ours), `\`${theirs}\``]));
  return `**${title}** (${topics}). ${untold}\n\n${table(["recorded as", "from"], rows)}`;
}

function recordedAs(ours: string | number): string {
  const row = typeof ours === "number" ? { bit: ours } : signWords[ours];
  if (row === undefined) return measureText(String(ours));
  return `bit ${row.bit} of an event${"inverted" in row ? ", if it is false" : ""}`;
}

function measureText(quantity: string, unit = ""): string {
  return `measure \`${quantity}\` ${quantityOf(quantity)?.unit ?? unit}`.trim();
}

/** Pairs by their first, with all that belongs to it. */
function grouped(pairs: readonly (readonly string[])[]): string[][] {
  const groups = Map.groupBy(pairs, ([first = ""]) => first);
  return [...groups].map(([first, all]) => [first, all.map(([, second]) => second).join(", ")]);
}

function objectRows(): string[][] {
  return [...objectTypes].flatMap(([id, { name, kept, unit }]) => {
    if (kept === undefined) return [];
    const as =
      "bit" in kept
        ? `bit ${kept.bit} of an event`
        : "quantity" in kept
          ? measureText(kept.quantity, unit)
          : {
              press: "measures `action_…`",
              battery: "charge of the device",
              supply: "voltage of its battery, or measure",
            }[kept.as];
    return [[as, `${name} (${id.toString(16).padStart(2, "0")})`]];
  });
}

function productRows(): string[][] {
  const products: Product[] = [...drivers, ...peripherals].flatMap((one) => one.products ?? []);
  return products.map(({ name, needs = "", series, facts: { events, measures = [], never = [] } }) => [
    name,
    needs,
    series.map((one) => `\`${one}\``).join(", "),
    [
      ...(events === undefined ? [] : [events.from]),
      ...measures.map(({ quantity }) => measureText(quantity)),
    ].join("; "),
    never.join("; "),
  ]);
}

function triedRows(): string[][] {
  const models = Object.entries(simulatedModels as Readonly<Record<string, SimulatedModel>>);
  const listed = everyDefinition();
  return models
    .filter(([, { manufacturer, says }]) => manufacturer !== "Acme" && says !== undefined)
    .map(([name, { identifier = name, manufacturer, says = {} }]) => {
      const own = Object.hasOwn(sensorModels, identifier);
      const definition =
        listed.find(({ fingerprint }) =>
          fingerprint?.some((one) => one.modelID === identifier && one.manufacturerName === manufacturer),
        ) ?? listed.find(({ zigbeeModel }) => zigbeeModel?.includes(identifier));
      const title = own
        ? sensorModels[identifier as keyof typeof sensorModels].title
        : definition?.description;
      const gives = Object.entries(says).map(([what, row]) => `${what}: ${given(row.gives)}`);
      const zone = Object.values(says).every(({ cluster }) => cluster === 0x0500);
      const by = own ? "the driver's own table" : zone ? "its zone status" : "its definition";
      return [`\`${name}\``, definition?.vendor ?? manufacturer, title ?? "", by, gives.join("; ")];
    });
}

function given({
  event,
  measures = {},
  battery_percent,
}: NonNullable<SimulatedModel["says"]>[string]["gives"]): string {
  return [
    ...(event === undefined ? [] : [`event ${event}`]),
    ...Object.entries(measures).map(
      ([quantity, [value, unit]]) => `${quantity} ${value}${unit === "" ? "" : ` ${unit}`}`,
    ),
    ...(battery_percent === undefined ? [] : [`battery ${battery_percent} %`]),
  ].join(", ");
}

const load = createRequire(import.meta.url);
let prepared: readonly Definition[] | undefined;

function everyDefinition(): readonly Definition[] {
  prepared ??= (load("zigbee-herdsman-converters/devices/index").default as DefinitionWithExtend[]).map(
    prepareDefinition,
  );
  return prepared;
}

function isSensor(definition: Definition): boolean {
  if (definition.fromZigbee.some(({ cluster }) => cluster === "ssIasZone")) return true;
  return new ConverterTranslator({ isDummyDevice: true } as unknown as Models.Device, definition).senses;
}

function versionOf(): string {
  return load("zigbee-herdsman-converters/package.json").version;
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), `|${head.map(() => "---").join("|")}|`, ...rows.map(line)].join("\n");
}

if (import.meta.main) await Bun.write(join(import.meta.dir, "..", sensorsPage), sensorsText());
