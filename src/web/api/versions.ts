import {
  type TArray,
  type TObject,
  type TProperties,
  type TSchema,
  Type,
  TypeGuard,
} from "@sinclair/typebox";
import { Provenance } from "../../domain/reading.ts";
import { isUnixTime } from "../../domain/records/record-field.ts";
import type { SeriesName } from "../../domain/series.ts";
import { type Endpoint, plainBody, reshaped, timeParameter } from "./endpoint.ts";

/** Versions of the interface that are served, oldest first. The last is the one that endpoints.ts describes. */
export const versions = ["0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9"] as const;

export type ApiVersion = (typeof versions)[number];

export const newestVersion: ApiVersion = "0.9";

/** Whether something introduced in `since` is part of `version`; both as `major.minor`. */
export function introducedBy(since: string, version: ApiVersion): boolean {
  const [major = 0, minor = 0] = since.split(".").map(Number);
  const [ofMajor = 0, ofMinor = 0] = version.split(".").map(Number);
  return major < ofMajor || (major === ofMajor && minor <= ofMinor);
}

/**
 * A change that a version made to the form of the interface, written as the way back: it makes the older form of an
 * endpoint from the newer one. Requests of the older form are converted to the newer, answers to the older, and the
 * schemas say the same. So a change needs to know nothing of the other changes.
 */
export interface VersionChange {
  /** The version that brought the newer form; those below it have the older. */
  readonly version: ApiVersion;
  /** The change in words. */
  readonly summary: string;
  /** The older form; the endpoint itself where the change does not concern it. */
  older(endpoint: Endpoint): Endpoint;
}

/** A list's endpoint with other records: `properties` of their schema and the records themselves. */
export function withRecords(
  endpoint: Endpoint,
  older: {
    properties: (newer: TProperties) => TProperties;
    record: (newer: Record<string, unknown>) => Record<string, unknown>;
  },
): Endpoint {
  const { properties, ...options } = (endpoint.response as TArray<TObject>).items;
  return {
    ...endpoint,
    response: Type.Array(Type.Object(older.properties(properties), named(options))),
    handle: async (call) =>
      reshaped(await endpoint.handle(call), ({ body, ...answer }) => ({
        ...answer,
        body: (plainBody(body) as Record<string, unknown>[]).map(older.record),
      })),
  };
}

/** The part of a schema's options that says what it is, not what it looks like. */
export function named({ title, description }: { title?: string; description?: string }) {
  return { title, description };
}

function hasParameter(endpoint: Endpoint, name: string): boolean {
  return name in endpoint.query.properties;
}

function withoutParameters(endpoint: Endpoint, ...names: readonly string[]): Endpoint {
  const { properties } = endpoint.query;
  const others = Object.entries(properties).filter(([name]) => !names.includes(name));
  return { ...endpoint, query: Type.Object(Object.fromEntries(others)) };
}

/** Fields with another name or value each, in the same order. */
function mappedFields<Value, Other>(
  fields: Readonly<Record<string, Value>>,
  map: (name: string, value: Value) => readonly [string, Other],
): Record<string, Other> {
  return Object.fromEntries(Object.entries(fields).map(([name, value]) => map(name, value)));
}

/** 0.9: a parameter that an endpoint does not know is refused. Older versions ignore it. */
export const unknownRefused: VersionChange = {
  version: "0.9",
  summary: "unknown parameters refused with 422",
  older: (endpoint) => ({ ...endpoint, query: Type.Object(endpoint.query.properties) }),
};

/** 0.9: `precision=ms`. Older versions serve seconds, and ignore the parameter as they do any that they lack. */
export const precisionAdded: VersionChange = {
  version: "0.9",
  summary: "`precision=ms` on time series",
  older: (endpoint) => {
    if (!hasParameter(endpoint, "precision")) return endpoint;
    return {
      ...withoutParameters(endpoint, "precision"),
      handle: (call) => endpoint.handle({ ...call, query: { ...call.query, precision: "s" } }),
    };
  },
};

/** 0.9: `since`, and `provenance` with it. Older versions ignore the parameters as they do any that they lack. */
export const sinceAdded: VersionChange = {
  version: "0.9",
  summary: "`since` on time series",
  older: (endpoint) => {
    if (!hasParameter(endpoint, "since")) return endpoint;
    const ofSince: readonly string[] = ["cursor_gone", "parameters_exclusive"];
    const { properties, ...options } = (endpoint.response as TArray<TObject>).items;
    const added = ["epoch", "number", ...Object.keys(Provenance.properties)];
    return {
      ...withoutParameters(endpoint, "since", "provenance"),
      response: Type.Array(Type.Omit(Type.Object(properties), added, named(options))),
      refusals: endpoint.refusals.filter((name) => !ofSince.includes(name)),
    };
  },
};

/** 0.9: `after` beside `before`. Older versions ignore the parameter as they do any that they lack. */
export const afterAdded: VersionChange = {
  version: "0.9",
  summary: "`after` beside `before` on time series",
  older: (endpoint) => (hasParameter(endpoint, "after") ? withoutParameters(endpoint, "after") : endpoint),
};

/**
 * 0.4: `devices` became `items`. That is the first segment of paths. The records' fields (`itemid`, `itemname`)
 * and the type names have no older form: the history speaks of the one word.
 */
export const devicesRenamed: VersionChange = {
  version: "0.4",
  summary: "`/devices` renamed to `/items`",
  older: (endpoint) => ({
    ...endpoint,
    template: endpoint.template.replace(/^\/items(?=\/|$)/, "/devices"),
    path: Type.Object(
      mappedFields(endpoint.path.properties, (name, schema) => [
        name,
        { ...schema, description: schema.description?.replace("/items", "/devices") ?? "" },
      ]),
    ),
  }),
};

/** 0.4: times became unix timestamps. Before, they were text of ISO 8601 in GMT: `2013-05-01T12:00:00Z`. */
export const timesAsNumbers: VersionChange = {
  version: "0.4",
  summary: "times as unix timestamps instead of ISO 8601 text",
  older: (endpoint) => {
    const bodies = olderForm(endpoint.response);
    const parameters = endpoint.query.properties;
    const times = Object.entries(parameters)
      .filter(([, schema]) => isUnixTime(schema))
      .map(([name]) => name);
    if (bodies === undefined && times.length === 0) return endpoint;
    return {
      ...endpoint,
      query: Type.Object(
        mappedFields(parameters, (name, schema) => [
          name,
          isUnixTime(schema) ? timeParameter(schema) : schema,
        ]),
      ),
      response: bodies?.schema ?? endpoint.response,
      handle: async (call) => {
        const handled = await endpoint.handle({ ...call, query: mapped(call.query, times, numberOf) });
        return reshaped(handled, ({ body, next }) => ({
          body: bodies === undefined ? body : bodies.value(plainBody(body)),
          next: next && mapped(next, times, textOf),
        }));
      },
    };
  },
};

/** `2013-05-01T12:00:00Z` of a unix timestamp; null, and what is no number, as it is. */
export function textOf(time: unknown): unknown {
  if (typeof time !== "number") return time;
  return new Date(time * 1000).toISOString().replace(".000Z", "Z");
}

function numberOf(text: unknown): unknown {
  return typeof text === "string" ? Date.parse(text) / 1000 : text;
}

function mapped<Value>(
  values: Readonly<Record<string, Value>>,
  names: readonly string[],
  map: (value: unknown) => unknown,
): Record<string, Value> {
  const found = names.filter((name) => values[name] !== undefined);
  return { ...values, ...Object.fromEntries(found.map((name) => [name, map(values[name]) as Value])) };
}

/** A schema and what has it, with every time in it as text. */
interface Form {
  readonly schema: TSchema;
  readonly value: (newer: unknown) => unknown;
}

/** Undefined where there is no time in it. */
function olderForm(schema: TSchema): Form | undefined {
  if (isUnixTime(schema)) return { schema: timeText(schema), value: textOf };
  if (TypeGuard.IsArray(schema)) {
    const items = olderForm(schema.items);
    if (items === undefined) return undefined;
    return {
      schema: Type.Array(items.schema, named(schema)),
      value: (newer) => (newer as unknown[]).map(items.value),
    };
  }
  if (TypeGuard.IsUnion(schema)) {
    const members = schema.anyOf.map((member) => olderForm(member)?.schema ?? member);
    if (members.every((member, index) => member === schema.anyOf[index])) return undefined;
    return { schema: Type.Union(members, named(schema)), value: textOf };
  }
  return TypeGuard.IsObject(schema) ? olderObject(schema.properties, named(schema)) : undefined;
}

function olderObject(properties: TProperties, options: ReturnType<typeof named>): Form | undefined {
  const fields = Object.entries(properties).map(([name, field]) => ({ name, field, form: olderForm(field) }));
  const changed = fields.flatMap(({ name, form }) => (form === undefined ? [] : [{ name, form }]));
  if (changed.length === 0) return undefined;
  return {
    schema: Type.Object(
      Object.fromEntries(fields.map(({ name, field, form }) => [name, form?.schema ?? field])),
      options,
    ),
    value: (newer) => {
      const older = { ...(newer as Record<string, unknown>) };
      for (const { name, form } of changed) older[name] = form.value(older[name]);
      return older;
    },
  };
}

function timeText(schema: TSchema): TSchema {
  return Type.String({ format: "date-time", ...named(schema) });
}

/** 0.2: time series came newest first, and `before` took the place of `after`, which came back beside it in 0.9. */
export const orderDescending: VersionChange = {
  version: "0.2",
  summary: "time series newest first, with `before` in the place of `after`",
  older: (endpoint) => {
    if (!hasParameter(endpoint, "before")) return endpoint;
    return {
      ...endpoint,
      summary: endpoint.summary.replace("newest first", "oldest first"),
      query: Type.Object(
        mappedFields(endpoint.query.properties, (name, schema) =>
          name === "before" ? ["after", { ...schema, description: afterDescription }] : [name, schema],
        ),
      ),
      handle: async (call) => {
        const { after, ...query } = call.query;
        const handled = await endpoint.handle({
          ...call,
          oldestFirst: true,
          query: after === undefined ? query : { ...query, before: after },
        });
        return reshaped(handled, ({ body, next }) => {
          if (next === undefined) return { body };
          const { before = "", ...others } = next;
          return { body, next: { after: before, ...others } };
        });
      },
    };
  },
};

const afterDescription = "return only records with a stamp above it; absent: from the oldest on";

/** The records of the pill-box status with other fields, in their schema and in themselves; another endpoint as it is. */
function withStatus(
  endpoint: Endpoint,
  older: <Value>(fields: Readonly<Record<string, Value>>) => Record<string, Value>,
): Endpoint {
  const status: SeriesName = "pillbox_status";
  return endpoint.name === status ? withRecords(endpoint, { properties: older, record: older }) : endpoint;
}

/** 0.2: the pill-box status says when the box will next use its radio. */
export const broadcastAdded: VersionChange = {
  version: "0.2",
  summary: "`nextpanicstart` and `nextpanicstop` added to the pill-box status",
  older: (endpoint) => withStatus(endpoint, withoutBroadcast),
};

function withoutBroadcast<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  const { nextpanicstart: _start, nextpanicstop: _stop, ...others } = fields;
  return others;
}

/** 0.2: the pill-box status field `firmware` became `firmwarerevsion`. */
export const firmwareRenamed: VersionChange = {
  version: "0.2",
  summary: "`firmware` of the pill-box status renamed to `firmwarerevsion`",
  older: (endpoint) => withStatus(endpoint, withOlderName),
};

function withOlderName<Value>(fields: Readonly<Record<string, Value>>): Record<string, Value> {
  return mappedFields(fields, (name, value) => [name === "firmwarerevsion" ? "firmware" : name, value]);
}

/**
 * Every change of form, newest first: an older version is the newest one taken back through the changes that came
 * after it. What a version only added as a whole has no entry: endpoints say themselves since when they exist.
 */
export const changes: readonly VersionChange[] = [
  unknownRefused,
  precisionAdded,
  sinceAdded,
  afterAdded,
  devicesRenamed,
  timesAsNumbers,
  orderDescending,
  broadcastAdded,
  firmwareRenamed,
];

/** The endpoints of every version in its own form, from those of the newest. */
export function versionsOf(endpoints: readonly Endpoint[]): ReadonlyMap<ApiVersion, readonly Endpoint[]> {
  return new Map(
    versions.map((version) => {
      const later = changes.filter((change) => !introducedBy(change.version, version));
      const known = endpoints.filter(({ since }) => introducedBy(since, version));
      const older = (endpoint: Endpoint) => later.reduce((form, change) => change.older(form), endpoint);
      return [version, known.map(older)];
    }),
  );
}
