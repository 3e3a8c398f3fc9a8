import { readFileSync } from "node:fs";
import type { TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse, TomlError } from "smol-toml";
import { messageOf, OperatorError } from "../errors.ts";
import { nearest } from "../nearest.ts";
import { lineFinder } from "./toml-lines.ts";

/** A TOML file as it was read: not checked yet. */
export interface Document {
  readonly file: string;
  readonly checks: DocumentKind["checks"];
  /** The line, from 1, on which a key stands, by its path. */
  readonly lineOf: (path: readonly string[]) => number;
  readonly values: Readonly<Record<string, unknown>>;
}

/** A kind of TOML files. */
export interface DocumentKind {
  /** Its name in messages, and the option that names another file. */
  readonly name: string;
  readonly option: string;
  /** Checks of texts beyond their type, by table and key; `*` is any table. */
  readonly checks: Readonly<Record<string, (value: string) => boolean | string>>;
}

/** Reads a TOML file. @throws OperatorError that names file, line and column */
export function readDocument(file: string, { name, option, checks }: DocumentKind): Document {
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch (error) {
    const absent = (error as NodeJS.ErrnoException).code === "ENOENT";
    throw new OperatorError(
      absent ? `there is no ${name} file ${file}` : `cannot read the ${name} ${file} (${messageOf(error)})`,
      absent
        ? `create it or name another with ${option} FILE`
        : `make it a file that this user may read, or name another with ${option} FILE`,
      { cause: error },
    );
  }
  try {
    return { file, checks, lineOf: lineFinder(text), values: parse(text) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = (error.message.split("\n")[0] ?? "").replace(/^Invalid TOML document:\s*/, "");
    throw new OperatorError(
      `${file} line ${error.line}, column ${error.column} is not valid TOML (${reason})`,
      "correct that line",
      { cause: error },
    );
  }
}

/**
 * Checks a table and all that is in it.
 *
 * @param path of the table; a number is a place in an array of tables
 * @throws OperatorError that names file, line and key, with the values that are allowed there
 */
export function checkTable(
  document: Document,
  path: readonly string[],
  schema: TSchema,
  value: unknown,
): void {
  for (const fault of tableFaults(document, path, schema, value)) throw fault;
}

/** Every fault of a table, in the order in which it has them: those that `checkTable` throws the first of. */
export function* tableFaults(
  document: Document,
  path: readonly string[],
  schema: TSchema,
  value: unknown,
): Generator<OperatorError> {
  const name = nameOf(path);
  const heading = path.some(isPlace) ? `[[${name}]]` : `[${name}]`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    yield new OperatorError(
      `${where(document, path)}: ${name} must be a section`,
      `write ${heading} on a line of its own and its keys below`,
    );
    return;
  }
  const { properties, additionalProperties: other } = schema as TObject;
  for (const [key, held] of Object.entries(value)) {
    const property = properties[key] ?? (typeof other === "object" ? other : undefined);
    if (property === undefined) yield unknownKey(document, [...path, key], Object.keys(properties));
    else yield* valueFaults(document, [...path, key], property, held);
  }
  for (const missing of ((schema as TObject).required ?? []).filter((key) => !Object.hasOwn(value, key))) {
    const property = properties[missing];
    yield new OperatorError(
      `${where(document, path)}: ${heading} has no ${missing}`,
      `add ${missing} = …${property === undefined ? "" : ` (${expectation(property)})`}`,
    );
  }
}

/** Checks one value. @throws OperatorError as `checkTable` does */
export function checkValue(
  document: Document,
  path: readonly string[],
  schema: TSchema,
  value: unknown,
): void {
  for (const fault of valueFaults(document, path, schema, value)) throw fault;
}

/** The fault of one value, where it has one. */
export function* valueFaults(
  document: Document,
  path: readonly string[],
  schema: TSchema,
  value: unknown,
): Generator<OperatorError> {
  const name = nameOf(path);
  const check = document.checks[name] ?? document.checks[`*.${path.at(-1)}`];
  const fits = Value.Check(schema, value);
  const checked = fits && typeof value === "string" ? (check?.(value) ?? true) : fits;
  if (checked === true) return;
  const meant = typeof checked === "string" ? `; did you mean "${checked}"?` : "";
  yield new OperatorError(
    `${where(document, path)}: ${name} is ${shown(value)}`,
    `it must be ${expectation(schema)}${meant}`,
  );
}

/** The fault of an unknown key, with the nearest known one. */
export function unknownKey(
  document: Document,
  path: readonly string[],
  candidates: readonly string[],
): OperatorError {
  const key = path.at(-1) ?? "";
  const near = nearest(key, candidates);
  const table = nameOf(path.slice(0, -1));
  const inside = table === "" ? "" : ` in ${path.some(isPlace) ? `[[${table}]]` : `[${table}]`}`;
  return new OperatorError(
    `${where(document, path)}: unknown key "${key}"${inside}`,
    near === undefined ? `known here: ${candidates.join(", ")}` : `did you mean "${near}"?`,
  );
}

/** File and line of a key. */
export function where(document: Document, path: readonly string[]): string {
  return `${document.file} line ${document.lineOf(path)}`;
}

function shown(value: unknown): string {
  const text = value instanceof Date ? value.toISOString() : JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

/** The values that a schema allows, for a message: its description if it has one, with its bounds. */
function expectation(schema: TSchema): string {
  const bounds = [
    schema["minimum"] === undefined ? "" : ` from ${schema["minimum"]}`,
    schema["maximum"] === undefined ? "" : ` to ${schema["maximum"]}`,
  ].join("");
  const literals = (schema["anyOf"] as { const?: unknown }[] | undefined)?.map((one) =>
    JSON.stringify(one.const),
  );
  const type = literals?.join(" or ") ?? `a ${schema["type"]}`.replace(/^a (?=[aeiou])/, "an ");
  const description = schema.description ?? "";
  if (description === "") return `${type}${bounds}`;
  return bounds === "" ? description : `${type}${bounds} (${description})`;
}

function nameOf(path: readonly string[]): string {
  return path.filter((part) => !isPlace(part)).join(".");
}

function isPlace(part: string): boolean {
  return /^\d+$/.test(part);
}
