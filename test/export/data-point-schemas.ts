import { Ajv } from "ajv";
import addFormats from "ajv-formats";

/**
 * Fields that the published schemas of IEEE 1752.1 and Open mHealth ask for in a data point, as their documentation names them. No
 * package has the schemas themselves: opensource.ieee.org/omh/1752 and github.com/openmhealth/schemas do.
 */
const header = {
  type: "object",
  required: ["uuid", "schema_id", "source_creation_date_time"],
  properties: {
    uuid: { type: "string", format: "uuid" },
    schema_id: {
      type: "object",
      required: ["namespace", "name", "version"],
      additionalProperties: { type: "string" },
    },
    source_creation_date_time: { type: "string", format: "date-time" },
    modality: { enum: ["sensed", "self-reported"] },
    user_id: { type: "string" },
    external_datasheets: {
      type: "array",
      items: {
        type: "object",
        required: ["datasheet_reference"],
        properties: { datasheet_reference: { type: "string", format: "uri" } },
      },
    },
  },
  additionalProperties: false,
};

const moment = exactly({ date_time: { type: "string", format: "date-time" } });
const interval = exactly({
  time_interval: exactly({
    start_date_time: { type: "string", format: "date-time" },
    end_date_time: { type: "string", format: "date-time" },
  }),
});
const minutes = valueIn("min");

/** Bodies by `namespace:name:version`. */
const bodies: Readonly<Record<string, object>> = {
  "omh:body-weight:3.0": exactly({ body_weight: valueIn("kg"), effective_time_frame: moment }),
  "omh:body-fat-percentage:2.0": exactly({ body_fat_percentage: valueIn("%"), effective_time_frame: moment }),
  "omh:heart-rate:2.0": exactly({ heart_rate: valueIn("beats/min"), effective_time_frame: moment }),
  "omh:body-temperature:4.0": exactly({ body_temperature: valueIn("C"), effective_time_frame: moment }),
  "omh:step-count:3.0": exactly({ step_count: valueIn("steps"), effective_time_frame: interval }),
  "ieee:physical-activity:1.0": exactly({
    activity_name: { type: "string" },
    base_movement_quantity: valueIn("steps"),
    distance: valueIn("m"),
    duration: valueIn("sec"),
    effective_time_frame: interval,
  }),
  "ieee:sleep-episode:1.0": {
    ...exactly({
      total_sleep_time: minutes,
      light_sleep_duration: minutes,
      deep_sleep_duration: minutes,
      rem_sleep_duration: minutes,
      wake_after_sleep_onset: minutes,
      number_of_awakenings: { type: "integer" },
      effective_time_frame: interval,
    }),
    required: ["effective_time_frame"],
  },
  "ieee:ambient-temperature:1.0": exactly({
    ambient_temperature: valueIn("C"),
    effective_time_frame: moment,
  }),
  "ieee:ambient-light:1.0": exactly({
    ambient_light: { type: "array", items: exactly({ intensity: valueIn("lx") }) },
    effective_time_frame: moment,
  }),
  "ieee:ambient-sound:1.0": exactly({ ambient_sound: valueIn("dBA"), effective_time_frame: moment }),
};

export interface DataPoint {
  readonly header: {
    readonly uuid: string;
    readonly user_id?: string;
    readonly schema_id: { readonly namespace: string; readonly name: string; readonly version: string };
  };
  readonly body: Readonly<Record<string, unknown>>;
}

const ajv = new Ajv({ allErrors: true });
addFormats(ajv);
const validate = new Map(
  Object.entries(bodies).map(([id, body]) => [id, ajv.compile(exactly({ header, body }))]),
);

/** The faults of a data point, as text; empty where nothing is. */
export function faultsOf(point: DataPoint): string {
  const { namespace, name, version } = point.header.schema_id;
  const holds = validate.get(`${namespace}:${name}:${version}`);
  if (holds === undefined) return `there is no schema ${namespace}:${name}:${version}`;
  return holds(point) ? "" : ajv.errorsText(holds.errors);
}

function valueIn(unit: string): object {
  return exactly({ value: { type: "number" }, unit: { const: unit } });
}

function exactly(properties: Record<string, object>): object {
  return { type: "object", properties, required: Object.keys(properties), additionalProperties: false };
}
