/** A JSON Schema, or any other part of a document, as JSON has it. */
export type Json = { readonly [name: string]: unknown };
