import { type Static, type TObject, type TSchema, TypeGuard } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { HttpError } from "../http/errors.ts";

/**
 * The parameters of a query that `schema` names; others are ignored.
 *
 * @throws HttpError that names the first one that is missing, malformed or repeated
 */
export function readQuery<Schema extends TObject>(schema: Schema, query: string): Static<Schema> {
  const given = new URLSearchParams(query);
  const values: Record<string, unknown> = {};
  for (const [name, property] of Object.entries<TSchema>(schema.properties)) {
    const texts = given.getAll(name);
    if (texts.length === 0 && TypeGuard.IsOptional(property)) continue;
    const expected = expectationOf(property);
    if (texts.length > 1) throw new HttpError("parameter_repeated", { parameter: name, expected });
    const value = TypeGuard.IsInteger(property) ? integerOf(texts[0]) : texts[0];
    if (!Value.Check(property, value))
      throw new HttpError("parameter_malformed", { parameter: name, expected });
    values[name] = value;
  }
  return values as Static<Schema>;
}

/** Decimal digits only: Number() would also take "0x10", "1e3", " 7 " and "". */
function integerOf(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,16}$/.test(text) ? Number(text) : undefined;
}

function expectationOf(schema: TSchema): string {
  if (schema.description !== undefined) return schema.description;
  if (TypeGuard.IsInteger(schema))
    return `an integer from ${schema.minimum ?? 0} to ${schema.maximum ?? "any"}`;
  if (TypeGuard.IsUnion(schema)) return schema.anyOf.map((choice) => String(choice["const"])).join(" or ");
  return "text";
}
