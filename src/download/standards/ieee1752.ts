import type { Standard } from "./standard.ts";

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
