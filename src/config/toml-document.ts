import { readFileSync } from "node:fs";
import type { TObject, TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parse, TomlError } from "smol-toml";
import { messageOf, OperatorError } from "../base/errors.ts";
import { nearest } from "../base/text.ts";

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
        : `run this as a user who may read it (for the gateway's: sudo -u lintel lintel …), or name another with ${option} FILE`,
      { cause: error },
    );
  }
  try {
    return { file, checks, lineOf: lineFinder(text), values: parse(text) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const line = text.split("\n")[error.line - 1] ?? "";
    const [curly] = /[\u201c-\u201f\u2018-\u201b]/.exec(line) ?? [];
    if (curly !== undefined)
      throw new OperatorError(
        `${file} line ${error.line} has the curly quote ${curly}, which an editor for letters puts in`,
        'write the straight one, ", in its place',
        { cause: error },
      );
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

/**
 * Finds the lines, from 1, of keys in a TOML document. The path of a key is its table and name, with the place, from 0, of a table in an
 * array of them: `["gateway", "2", "url"]`. A key without a line of its own has that of the nearest table around it, or line 1. The
 * document must have parsed already: this only finds keys that are known to be there. It is read once, when a line is first asked for.
 */
function lineFinder(toml: string): (path: readonly string[]) => number {
  let lines: ReadonlyMap<string, number> | undefined;
  return (path) => {
    lines ??= keyLines(toml);
    for (let length = path.length; length > 0; length--) {
      const line = lines.get(joined(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
}

/** Line on which each table and each key first appears at the start of a line, by its full path. */
function keyLines(toml: string): Map<string, number> {
  const lines = new Map<string, number>();
  let table: string[] = [];
  let until: string | undefined;
  const places = new Map<string, number>();
  toml.split(/\r?\n/).forEach((text, index) => {
    if (until !== undefined) {
      if (text.includes(until)) until = undefined;
      return;
    }
    const header = /^\s*\[\[?([^\]]*)\]/.exec(text);
    const assignment = /^\s*((?:"[^"]*"|'[^']*'|[\w-]+|\s*\.\s*)+?)\s*=(.*)$/.exec(text);
    if (header) table = keysOf(header[1] ?? "");
    if (header && /^\s*\[\[/.test(text)) {
      const place = places.get(joined(table)) ?? 0;
      places.set(joined(table), place + 1);
      table.push(String(place));
    }
    if (!header && !assignment) return;
    const path = assignment && !header ? [...table, ...keysOf(assignment[1] ?? "")] : table;
    for (let length = 1; length <= path.length; length++) {
      const key = joined(path.slice(0, length));
      if (!lines.has(key)) lines.set(key, index + 1);
    }
    until = opensMultiline(header ? "" : (assignment?.[2] ?? ""));
  });
  return lines;
}

/** The quotes that a value leaves open at the end of its line. */
function opensMultiline(value: string): string | undefined {
  for (const quotes of ['"""', "'''"]) {
    if (value.split(quotes).length === 2) return quotes;
  }
  return undefined;
}

/** `a . "b.c"` is the two keys `a` and `b.c`. */
function keysOf(dotted: string): string[] {
  return [...dotted.matchAll(/"([^"]*)"|'([^']*)'|([\w-]+)/g)].map((key) => key[1] ?? key[2] ?? key[3] ?? "");
}

function joined(path: readonly string[]): string {
  return JSON.stringify(path);
}
