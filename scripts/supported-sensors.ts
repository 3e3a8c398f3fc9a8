/**
 * Writes docs/sensors.md, which says what devices are heard, what of them is recorded and what was tried, from the tables by which they are heard.
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

export const sensorsPage = "docs/sensors.md";

/** The page, as the tables have it now. */
export function sensorsText(): string {
  const definitions = everyDefinition();
  const makers = [...Map.groupBy(definitions.filter(isSensor), ({ vendor }) => vendor)].toSorted(
    ([one], [other]) => one.localeCompare(other, "en"),
  );
  const count = makers.reduce((sum, [, models]) => sum + models.length, 0);
  return `# Devices that are heard

This page is made by \`bun scripts/supported-sensors.ts\` from the tables by which devices are heard; a test holds it to them.
Sensors of Zigbee come [first](#zigbee-sensors), then [sensors behind other hubs](#sensors-of-other-hubs-by-mqtt), [what Bluetooth sensors broadcast](#bluetooth-sensors-that-broadcast),
[pill boxes, scales, belts, thermometers and watches](#pill-boxes-scales-belts-thermometers-and-watches), and at the end [every model of Zigbee](#every-model-with-a-definition-that-is-a-sensor).

# Zigbee sensors

A stick that zigbee-herdsman has an adapter for, and the section \`[zigbee]\`: [drivers/zigbee](../drivers/zigbee/README.md).

## How a sensor is heard

A status of an IAS zone is recorded as the sensor sends it, whatever its model. Everything else is taken apart in one of two ways:

- A model with a definition in zigbee-herdsman-converters ${versionOf()}, by that definition. ${definitions.length} models have one, and ${count} of
  them are sensors: they tell whether somebody or something is there, open, wet or pressed, or a quantity that nobody sets. The others
  are lamps, locks, valves and the like, of which nothing is recorded. ° marks sensors that tell a beginning and never an end: their converters
  make one up by a timer for others, which is not recorded.
- Any other model, by the clusters of the last table here.

What a definition says becomes bits of an event, a measure, or the state of a battery. Where a device has two properties for one bit, the first of
this table takes it, and the other is a measure of 1 or 0.

${table(
  ["property", "bit", "set where it is", "an event whenever it is said"],
  Object.entries(eventWords).map(([name, { bit, inverted, happens }]) => [
    `\`${name}\``,
    String(bit),
    inverted ? "false" : "true",
    happens ? "where set, until the sensor has told an end" : "no, on a change alone",
  ]),
)}

Numbers are measures, under their name in zigbee-herdsman-converters and in the units of [quantities.md](quantities.md). What is true or false without a
place among the bits is a measure of 1 or 0. One of the words that a definition lists is a measure of 1 with the word in its name: \`action_single\`,
\`motion_state_large\`. Other text, lists and structures are counted and not kept.
Only what is told by a message is recorded: the end of a motion that a sensor never told is in no table.

## Tried through the program

The simulator sends the bytes of these to the program as people start it, on a pseudo-terminal, and their events and measures are asked back from
its interface (\`test/shipped/any-sensor.test.ts\`). The bytes are made after the specification of the cluster, or after the code that reads a maker's own. None of these has been tried as a
device that one can hold.

${table(["model", "maker", "what it is", "heard by", "recorded in the trial"], triedRows())}

## Tried against its definition

For ${count} sensors, of which this page ends with the list, \`./scripts/soak converters\` makes messages of the clusters, commands and data points that each definition takes, and holds
what Lintel records to what the definition returns. It prints for how many that was possible, and why not for the others.

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
    .join(
      ", ",
    )}. \`onOff\` is a contact on devices that sleep. Each cluster is bound and asked for reports when
the device joins. The zone types ${[...zoneSubtypes].map(([type, subtype]) => `0x${type.toString(16).padStart(4, "0")} (${subtype})`).join(" and ")} say what kind of item it is.

# Sensors of other hubs, by MQTT

A broker that the hub speaks to, and the section \`[mqtt]\`: [drivers/mqtt](../drivers/mqtt/README.md) has the settings of each hub.

${hubs.map(hubText).join("\n\n")}

# Bluetooth sensors that broadcast

A Bluetooth controller on a serial line, and the section \`[ble]\`: [drivers/ble](../drivers/ble/README.md). Whatever broadcasts in the format BTHome v2 is understood, by its objects:

${table(["recorded as", "objects"], grouped(objectRows()))}

# Pill boxes, scales, belts, thermometers and watches

All but polled pill boxes and watches on a wire are heard over Bluetooth, by the section \`[ble]\`. What each kind of device never tells stands with every one of them at \`…/device\` too ([device.md](device.md)).

${table(["device", "needs", "recorded", "made from", "never told"], productRows())}

# Every model with a definition that is a sensor

${makers.map(([maker, models]) => `**${maker}** (${models.length}): ${models.map((one) => `${one.model}${neverTold(one).length > 0 ? "°" : ""}`).join(", ")}`).join("\n\n")}
`;
}

/** The words of a hub, and where each goes. */
function hubText({ title, prefix, messages, never, tells }: Hub): string {
  const topics =
    messages.length === 0
      ? "the topics that its devices describe"
      : messages.map((topic) => `\`${prefix}/${topic}\``).join(", ");
  const untold = `It never tells ${never.join(", nor ")}.`;
  if (tells === undefined)
    return `**${title}** (${topics}): every model of the list below that is paired there, as if it were heard by Lintel's own stick. ${untold}`;
  const rows = grouped(Object.entries(tells).map(([theirs, ours]) => [recordedAs(ours), `\`${theirs}\``]));
  return `**${title}** (${topics}). ${untold}\n\n${table(["recorded as", "where it says"], rows)}`;
}

function recordedAs(ours: string | number): string {
  const row = typeof ours === "number" ? { bit: ours } : signWords[ours];
  if (row === undefined) return measureText(String(ours));
  return `bit ${row.bit} of an event${"inverted" in row ? ", where it is not so" : ""}`;
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
