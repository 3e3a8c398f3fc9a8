import type { JsonObject } from "./json.ts";

/** The values that a schema allows, in a few words. */
export function valueText(schema: JsonObject): string {
  const parts = [formText(schema), ...boundTexts(schema)];
  if (schema["default"] !== undefined) parts.push(`default ${String(schema["default"])}`);
  return parts.join(", ");
}

/** The component that a schema refers to, itself or for the elements of its list. */
export function baseName(schema: JsonObject): string | undefined {
  const { $ref: reference, items } = schema;
  if (typeof reference === "string") return reference.split("/").at(-1);
  return items === undefined ? undefined : baseName(items as JsonObject);
}

function formText(schema: JsonObject): string {
  const { type, format, anyOf, const: constant, items } = schema;
  const reference = baseName(schema);
  if (type === "array") return `list of ${reference ?? formText(items as JsonObject)}`;
  if (reference !== undefined) return reference;
  if (Array.isArray(anyOf)) return anyOf.map(formText).join(" or ");
  if (constant !== undefined) return String(constant);
  if (format === "unixtime") return "unix time";
  if (format === "date-time") return "time, ISO 8601 GMT";
  return String(type);
}

function boundTexts({ format, minimum, maximum }: JsonObject): string[] {
  if (format === "unixtime" || (minimum === undefined && maximum === undefined)) return [];
  if (maximum === Number.MAX_SAFE_INTEGER) return minimum === 0 ? ["from 0"] : [];
  if (maximum === undefined) return [`from ${grouped(minimum)}`];
  return [minimum === undefined ? `to ${grouped(maximum)}` : `${grouped(minimum)} to ${grouped(maximum)}`];
}

/** 1000000 as 1,000,000. */
function grouped(number: unknown): string {
  return Number(number).toLocaleString("en");
}
