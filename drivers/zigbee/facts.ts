import type { Models } from "zigbee-herdsman";
import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import { eventWords } from "../../src/domain/event-words.ts";
import { action_prefix, quantityOf } from "../../src/domain/quantities.ts";
import type { Properties } from "../wire/properties.ts";
import { blindAfter_s, type SensorModel } from "./models.ts";
import type { Translator } from "./translator.ts";
import { zoneEndpoint, zoneTypeOf } from "./zone-status.ts";

/** Facts of a sensor: by its row in the table of models, by its definition, and of one that has neither by the type of its zone. */
export function factsOf(device: Models.Device, translator: Translator, model?: SensorModel): DeviceFacts {
  const { properties, source, never } = translator;
  const description = model?.title ?? translator.description ?? zoneTitles.get(zoneTypeOf(device) ?? -1);
  const told = Object.keys(eventWords).filter((name) => properties.has(name));
  const measures = measuresOf(properties);
  const blind_s = blindAfter_s[(device.modelID ?? "").trim()];
  const battery = batteryOf(properties, model);
  const firmware = plain(device.softwareBuildID) ?? numbered(device.applicationVersion);
  const datecode = plain(device.dateCode);
  return {
    ...(description === undefined ? {} : { description }),
    // A zone status is recorded as it comes, whatever else the device has.
    ...(zoneEndpoint(device) !== undefined
      ? { events: { form: "received", from: "IAS zone status, all 16 bits (ZCL 8.2.2.2.1.3)" } }
      : told.length > 0
        ? { events: { form: "translated", from: `${told.join(", ")}, by ${source}` } }
        : {}),
    ...(measures.length === 0 ? {} : { measures }),
    ...(never.length === 0 ? {} : { never: [...never] }),
    ...(blind_s === undefined ? {} : { blind_s }),
    ...(battery === undefined ? {} : { battery }),
    ...(firmware === undefined ? {} : { firmware }),
    ...(datecode === undefined ? {} : { datecode }),
  };
}

/** Some makes fill their texts with zeros or blanks. */
function plain(text: string | undefined): string | undefined {
  const trimmed = (text ?? "").replace(/[\0\s]+$/, "").trim();
  return trimmed === "" ? undefined : trimmed;
}

/** The application version of the Basic cluster (attribute 1), of a device that has no text for it. */
function numbered(version: number | undefined): string | undefined {
  return version === undefined || version === 0 ? undefined : String(version);
}

/** Its quantities, and that it has buttons; its settings, and how it is itself, are left out. */
function measuresOf(properties: Properties): NonNullable<DeviceFacts["measures"]> {
  return [...properties].flatMap(([name, { unit, isSetting, isText }]) => {
    if (name === "action") return [{ quantity: `${action_prefix}…`, unit: "" }];
    if (isSetting === true || isText === true || Object.hasOwn(eventWords, name) || ofItself.has(name))
      return [];
    if (name === "voltage" && unit === "mV") return [];
    return [{ quantity: name, unit: quantityOf(name)?.unit ?? unit ?? "" }];
  });
}

const ofItself = new Set(["battery", "linkquality"]);

function batteryOf(properties: Properties, model: SensorModel | undefined): string | undefined {
  const volts = properties.get("voltage")?.unit === "mV" ? ["mV"] : [];
  const percent = model?.battery === "percent" ? "whole per cent" : "half per cent";
  const told = [...(properties.has("battery") ? [percent] : []), ...volts];
  if (told.length > 0) return told.join(", and ");
  return properties.has("battery_low") ? "only that it is low" : undefined;
}

/** IAS zone types (ZCL 8.2.2.2.1.3) in words. */
const zoneTitles: ReadonlyMap<number, string> = new Map([
  [0x000d, "motion sensor"],
  [0x0015, "contact sensor"],
  [0x0016, "door or window handle"],
  [0x0028, "smoke sensor"],
  [0x002a, "water sensor"],
  [0x002b, "carbon monoxide sensor"],
  [0x002c, "personal emergency device"],
  [0x002d, "vibration or movement sensor"],
  [0x010f, "remote control"],
  [0x0115, "key fob"],
  [0x021d, "keypad"],
  [0x0225, "standard warning device"],
  [0x0226, "glass break sensor"],
]);
