import type { DeviceRecord } from "../../records/device.ts";
import type { Item } from "../../records/items.ts";
import type { MeasuredFact } from "./fact.ts";
import type { Loinc, ObservationForm } from "./mapping.ts";
import type { Measurement, Standard } from "./standard.ts";

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
  const parts = components.flatMap((part) => {
    const value = part.value(fact);
    return value === undefined
      ? []
      : [{ code: concept(part.loinc), valueQuantity: quantity(value, part.unit) }];
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

/** UCUM codes in the words that people read. */
const units: Readonly<Record<string, string>> = {
  "/min": "beats/minute",
  "{steps}": "steps",
  Cel: "°C",
};
