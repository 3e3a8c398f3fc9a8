import type { TSchema } from "@sinclair/typebox";

/**
 * Who a field tells of, for packages without identifiers. A number, a time or a word of a closed list tells of nobody unless it is marked; a text tells of a person
 * unless it is marked: whoever fills in a record may write a name anywhere.
 *
 * | mark | in a package without identifiers |
 * |---|---|
 * | nobody | as it is |
 * | person | left out |
 * | subject, home, item | a number made by the programme's key |
 * | itemname | kind of the item and that number |
 * | known words | those words as they are, others as a word made by the key |
 */
export type Identifies =
  | "nobody"
  | "person"
  | "subject"
  | "home"
  | "item"
  | "itemname"
  | { readonly isKnown: (text: string) => boolean };

/** The same schema, marked. */
export function identifying<Schema extends TSchema>(as: Identifies, schema: Schema): Schema {
  return { ...schema, [mark]: as };
}

/** Who the values of a schema tell of. */
export function identifiedBy(schema: TSchema): Identifies {
  const marked: Identifies | undefined = schema[mark];
  if (marked !== undefined) return marked;
  const choices: readonly TSchema[] = schema["anyOf"] ?? [schema];
  const isOpenText = choices.some((choice) => choice["type"] === "string" && choice["const"] === undefined);
  return isOpenText ? "person" : "nobody";
}

/** A symbol, so that it is no part of any contract. */
const mark = Symbol("identifies") as unknown as string;
