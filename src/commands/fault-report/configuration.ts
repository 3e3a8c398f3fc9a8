import { readFileSync } from "node:fs";
import { parse } from "smol-toml";
import type { Scrub } from "./scrub.ts";

type TomlTable = Readonly<Record<string, unknown>>;

/**
 * A configuration without anything that is somebody's: numbers and switches stay, a text is told by its form. The home and lines of
 * curtain sensors, whose keys are names, are only counted.
 */
export function configurationForm(file: string, scrub: Scrub): unknown {
  const { home, walking, ...others } = parse(readFileSync(file, "utf8"));
  return {
    ...(home === undefined ? {} : { home: `${Object.keys(home).length} keys` }),
    ...(walking === undefined ? {} : { walking: `${Object.keys(walking).length} lines` }),
    ...formsOf(others, scrub),
  };
}

/** Keys are the program's words, but a table of Bluetooth keys has addresses for them, and a mistyped one may be anything. */
function formsOf(table: object, scrub: Scrub): TomlTable {
  return Object.fromEntries(Object.entries(table).map(([name, of]) => [scrub.key(name), formOf(of, scrub)]));
}

function formOf(value: unknown, scrub: Scrub): unknown {
  if (typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return settings.has(value) ? value : textForm(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object" || value === null) return null;
  return formsOf(value, scrub);
}

function textForm(text: string): string {
  const scheme = /^([a-z]{2,8}):\/\//.exec(text)?.[1];
  if (scheme !== undefined) return `${scheme}://…`;
  const place = /^\/(dev\/serial\/by-id|dev|var\/lib\/lintel|etc\/lintel)\//.exec(text)?.[0];
  if (place !== undefined) return `${place}…`;
  if (/^([01]\d|2[0-3]):[0-5]\d$/.test(text)) return text;
  const port = /^(0\.0\.0\.0|127\.0\.0\.1|\[::\]):\d+$/.exec(text)?.[0];
  return port ?? `a text of ${text.length}`;
}

/** Values that the program defines. */
const settings: ReadonlySet<string> = new Set([
  ...["self-signed", "known", "all", "lintel", "/var/lib/lintel"],
  ...["zstack", "ember", "deconz", "zigate", "zboss", "zoh", "ezsp"],
]);
