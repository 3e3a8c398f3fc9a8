import type { DeviceRecord } from "../../domain/device-facts.ts";
import type { Item } from "../../domain/records/item.ts";
import type { MeasuredFact } from "./facts.ts";
import type { Loinc, Mapping, ObservationForm } from "./standard-mapping.ts";

/** One measurement of an item, to be said in the words of a standard. */
export interface Measurement {
  readonly item: Item;
  readonly mapping: Mapping;
  readonly fact: MeasuredFact;
  /** A UUID that is the same whenever this measurement is written, at a gateway and at central. */
  readonly uuid: string;
  readonly subject: number | undefined;
  readonly home: number | undefined;
}

/** How a standard says measurements, as lines of NDJSON. */
export interface Standard {
  readonly title: string;
  /** The words for what it has not, such as `there is no schema`. */
  readonly lacking: string;
  /** Its nature, and how its files are to be read, as Markdown. */
  readonly about: string;
  /** The file that has measurements of a kind, without ending; undefined where the standard has nothing for them. */
  fileOf(mapping: Mapping): string | undefined;
  /** A kind of measurement as it has it, as Markdown. */
  wordsOf(mapping: Mapping): string;
  /** The line of a measurement; undefined where there is nothing to tell. */
  lineOf(measurement: Measurement): object | undefined;
  /** A file with a line for each item, where it has one. */
  readonly devices?: { readonly file: string; lineOf(item: Item, device: DeviceRecord | undefined): object };
}

/** The files of a standard, and what is not in them. */
export interface StandardFiles extends Pick<Standard, "title" | "lacking"> {
  /** Lines of each file, by its path in the directory of the download. */
  readonly files: Readonly<Record<string, number>>;
  /** Everything of the downloaded series that the standard has nothing for. */
  readonly without: readonly string[];
  /** Measurements of people of which the inventory does not name one subject. */
  readonly unassigned: number;
  /** Measures that were recorded in another unit than that of their quantity, and are left out. */
  readonly otherUnit: number;
}

/**
 * IEEE 1752.1-2021, with the measures of Open mHealth that it builds on: a data point of a header and a body a line. The schemas are at
 * opensource.ieee.org/omh/1752 and github.com/openmhealth/schemas; both leave room for more members, such as `user_id`, which
 * Open mHealth's own header has.
 */
export const ieee1752: Standard = {
  title: "IEEE 1752.1 and Open mHealth",
  lacking: "there is no schema",
  about:
    "Each line is a data point: a `header` as IEEE 1752.1 has it, and a `body` in the schema that `header.schema_id` names. `header.user_id` (as in Open mHealth's header) is the subject of `subjects.ndjson` who had the device by `subject_inventory.ndjson`, and is left out where that names nobody. The device is the item that `header.external_datasheets` names: `items.ndjson` and `devices.ndjson` describe it.",
  fileOf: ({ ieee1752: form }) => form?.name,
  wordsOf: ({ ieee1752: form }) =>
    form === undefined ? "" : `\`${form.namespace}:${form.name}:${form.version}\``,
  lineOf: ({ item, mapping, fact, uuid, subject }) => {
    const { namespace, name, version, body } = mapping.ieee1752 ?? {};
    const told = body?.(fact);
    if (told === undefined) return undefined;
    const from = new Date(fact.from_ms).toISOString();
    return {
      header: {
        uuid,
        schema_id: { namespace, name, version },
        // A device makes a data point when what it measured is over.
        source_creation_date_time: new Date(fact.to_ms ?? fact.from_ms).toISOString(),
        modality: "sensed",
        ...(subject === undefined ? {} : { user_id: String(subject) }),
        external_datasheets: [
          { datasheet_type: "hardware", datasheet_reference: `urn:lintel:item:${item.itemid}` },
        ],
      },
      body: {
        ...told,
        effective_time_frame:
          fact.to_ms === undefined
            ? { date_time: from }
            : { time_interval: { start_date_time: from, end_date_time: new Date(fact.to_ms).toISOString() } },
      },
    };
  },
};

/** FHIR R4 (4.0.1): a resource a line, Observations with LOINC codes and UCUM units, and a Device for each item. */
export const fhir: Standard = {
  title: "HL7 FHIR R4",
  lacking: "Lintel knows no LOINC code",
  about:
    "Each line is a resource, as in a bulk export. An Observation's `subject` is `Patient/subject-N`, N being the subject of `subjects.ndjson` who had the device by `subject_inventory.ndjson`; where that names nobody, it is said to be unknown. What a sensor measures of a room has the subject `Location/home-N`, of `homes.ndjson`. Patients and Locations are not in these files: who loads them makes them from these lists. `device` is the `Device` of the item.",
  fileOf: ({ fhir: form, series }) => (form === undefined ? undefined : `Observation-${series}`),
  wordsOf: ({ fhir: form }) =>
    form === undefined ? "" : [form, ...(form.components ?? [])].map(codeWords).join(", with "),
  lineOf: (measurement) => {
    const form: ObservationForm | undefined = measurement.mapping.fhir;
    const value = form?.value(measurement.fact);
    if (form === undefined || value === undefined) return undefined;
    return observation(measurement, form, value);
  },
  devices: { file: "Device", lineOf: deviceLine },
};

function observation(measurement: Measurement, form: ObservationForm, value: number): object {
  const { item, fact, uuid } = measurement;
  const { loinc, category, profile, unit, components = [] } = form;
  const parts = components.map((part) => {
    const value = part.value(fact);
    const told =
      value === undefined ? { dataAbsentReason: unknown } : { valueQuantity: quantity(value, part.unit) };
    return { code: concept(part.loinc), ...told };
  });
  return {
    resourceType: "Observation",
    id: uuid,
    ...(profile === undefined ? {} : { meta: { profile: [profile] } }),
    status: "final",
    ...(category === undefined ? {} : { category: [{ coding: [{ system: categories, code: category }] }] }),
    code: concept(loinc),
    subject: subjectOf(measurement),
    ...effective(fact),
    valueQuantity: quantity(value, unit),
    ...(parts.length > 0 ? { component: parts } : {}),
    device: { reference: `Device/${deviceId(item)}` },
  };
}

function subjectOf({ subject, home, mapping }: Measurement): object {
  const known = mapping.ofRoom ? home && `Location/home-${home}` : subject && `Patient/subject-${subject}`;
  return known === undefined
    ? { extension: [{ url: dataAbsentReason, valueCode: "unknown" }] }
    : { reference: known };
}

function effective({ from_ms, to_ms }: MeasuredFact): object {
  const start = new Date(from_ms).toISOString();
  return to_ms === undefined
    ? { effectiveDateTime: start }
    : { effectivePeriod: { start, end: new Date(to_ms).toISOString() } };
}

function concept(loinc: Loinc): object {
  return { coding: [{ system: "http://loinc.org", ...loinc }], text: loinc.display };
}

function quantity(value: number, code: string): object {
  return { value, unit: units[code] ?? code, system: "http://unitsofmeasure.org", code };
}

function codeWords({ loinc, unit }: Omit<ObservationForm, "components">): string {
  return `LOINC ${loinc.code} (${loinc.display}), \`${unit}\``;
}

/** Where a device's hardware address and serial number are wanted, `items` has them. */
function deviceLine(item: Item, device: DeviceRecord | undefined): object {
  const { vendor, model, description } = device ?? {
    vendor: item.vendorname,
    model: item.modelname,
    description: null,
  };
  return {
    resourceType: "Device",
    id: deviceId(item),
    status: item.active === 1 ? "active" : "inactive",
    ...(vendor ? { manufacturer: vendor } : {}),
    deviceName: [{ name: item.itemname, type: "user-friendly-name" }],
    ...(model ? { modelNumber: model } : {}),
    type: { text: description || item.typename },
  };
}

function deviceId({ itemid }: Item): string {
  return `item-${itemid}`;
}

const categories = "http://terminology.hl7.org/CodeSystem/observation-category";
const dataAbsentReason = "http://hl7.org/fhir/StructureDefinition/data-absent-reason";
const unknown = {
  coding: [{ system: "http://terminology.hl7.org/CodeSystem/data-absent-reason", code: "unknown" }],
};

/** UCUM codes in the words that people read. */
const units: Readonly<Record<string, string>> = {
  "/min": "beats/minute",
  "{steps}": "steps",
  Cel: "°C",
};

/** The standards that a download can be in besides its own tables. The key is the word on the command line, and the directory of the files. */
export const standards = { ieee1752, fhir } as const satisfies Record<string, Standard>;

export type StandardName = keyof typeof standards;

export const standardNames = Object.keys(standards) as StandardName[];
