import type { Static, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { decodeJson, decodingBounds } from "../base/json-decoder.ts";

/** The value of one of the files that central keeps of a home; undefined where there is none, or it is of another form. */
export function valueInFile<Schema extends TSchema>(
  schema: Schema,
  content: Uint8Array | undefined,
): Static<Schema> | undefined {
  if (content === undefined) return undefined;
  try {
    const found = decodeJson(content, decodingBounds.homeFile);
    return Value.Check(schema, found) ? found : undefined;
  } catch {
    return undefined;
  }
}
