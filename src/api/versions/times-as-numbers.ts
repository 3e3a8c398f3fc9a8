import { type TProperties, type TSchema, Type, TypeGuard } from "@sinclair/typebox";
import { isUnixTime } from "../../unix-time.ts";
import { reshaped } from "../endpoint.ts";
import { timeParameter } from "../parameters.ts";
import { named, type VersionChange } from "./change.ts";

/** 0.4: times became unix timestamps. Before, they were text of ISO 8601 in GMT: `2013-05-01T12:00:00Z`. */
export const timesAsNumbers: VersionChange = {
  version: "0.4",
  summary: "times as unix timestamps instead of ISO 8601 text",
  older: (endpoint) => {
    const bodies = olderForm(endpoint.response);
    const parameters = Object.entries(endpoint.query.properties);
    const times = parameters.filter(([, schema]) => isUnixTime(schema)).map(([name]) => name);
    if (bodies === undefined && times.length === 0) return endpoint;
    return {
      ...endpoint,
      query: Type.Object(
        Object.fromEntries(
          parameters.map(([name, schema]) => [name, isUnixTime(schema) ? timeParameter(schema) : schema]),
        ),
      ),
      response: bodies?.schema ?? endpoint.response,
      handle: async (call) => {
        const handled = await endpoint.handle({ ...call, query: mapped(call.query, times, numberOf) });
        return reshaped(handled, ({ body, next }) => ({
          body: bodies === undefined ? body : bodies.value(body),
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
