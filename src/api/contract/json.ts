/** A JSON Schema, or any other part of a document, as JSON has it. */
export type JsonObject = { readonly [name: string]: unknown };
