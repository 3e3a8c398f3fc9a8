import { parse } from "smol-toml";

/** Values of a configuration, as TOML has them. */
export type TomlValues = Readonly<Record<string, unknown>>;

/**
 * A configuration with these values and no others, as the template has it: what is not set stays there as a comment, and each key keeps
 * its explanation.
 */
export function configurationText(template: string, values: TomlValues): string {
  const written = new Set<string>();
  const blocks = template
    .trimEnd()
    .split(/\n{2,}/)
    .map((block) => filledBlock(block, values, written));
  for (const [name, value] of Object.entries(values))
    if (!written.has(name)) blocks.push([`[${name}]`, ...linesOf(value as TomlValues)].join("\n"));
  const text = `${blocks.join("\n\n")}\n`;
  if (!Bun.deepEquals(parse(text), values)) throw new Error("the configuration that was made is another");
  return text;
}

/** A section of the template, or what stands before all sections, with its values. */
function filledBlock(block: string, values: TomlValues, written: Set<string>): string {
  const lines = block.split("\n");
  const name = /^(?:# )?\[(\w+)\]/.exec(lines[0] ?? "")?.[1];
  if (name === undefined) return filledLines(lines, values, written).join("\n");
  const section = values[name] as TomlValues | undefined;
  const [heading = "", ...keys] = lines;
  if (section === undefined) return [heading, ...keys].map(asComment).join("\n");
  written.add(name);
  const known = new Set<string>();
  const filled = filledLines(keys, section, known);
  const others = Object.fromEntries(Object.entries(section).filter(([key]) => !known.has(key)));
  return [
    heading.replace(/^# (\[\w+\])(?=\s+#)/, "$1  ").replace(/^# /, ""),
    ...filled,
    ...linesOf(others),
  ].join("\n");
}

/** Lines of keys, each with its value or as a comment; `known` gets the keys that have one. */
function filledLines(lines: readonly string[], values: TomlValues, known: Set<string>): string[] {
  const filled: string[] = [];
  let listed = false;
  for (const line of lines) {
    const [, key = "", example = "", comment] = keyLine.exec(line) ?? [];
    const set = Object.hasOwn(values, key);
    // The lines of an example list whose key is set give way to it.
    if (listed && !/^(# )?\]/.test(line)) continue;
    if (listed) {
      listed = false;
      continue;
    }
    listed = set && example === "[";
    if (!set) filled.push(asComment(line));
    else {
      known.add(key);
      const assigned = `${key} = ${valueText(values[key])}`;
      filled.push(comment === undefined ? assigned : `${assigned.padEnd(comment_column - 1)} ${comment}`);
    }
  }
  return filled;
}

function asComment(line: string): string {
  return line === "" || line.startsWith("#") ? line : `# ${line}`;
}

function linesOf(values: TomlValues): string[] {
  return Object.entries(values).map(([key, value]) => `${keyText(key)} = ${valueText(value)}`);
}

/** A value on one line, tables inline. */
function valueText(value: unknown): string {
  // TOML's basic strings are JSON's, but for one character.
  if (typeof value === "string") return JSON.stringify(value).replaceAll("\u007f", "\\u007f");
  if (Array.isArray(value)) return `[${value.map(valueText).join(", ")}]`;
  if (typeof value !== "object" || value === null) return String(value);
  const parts = Object.entries(value).map(([key, held]) => `${keyText(key)} = ${valueText(held)}`);
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`;
}

function keyText(key: string): string {
  return /^[\w-]+$/.test(key) ? key : JSON.stringify(key);
}

/** A key with its value and explanation, or the same as a comment. */
const keyLine = /^(?:# )?(\w+) = (.*?)(?:\s+(# .*))?$/;
/** From 0, where explanations stand in the template. */
const comment_column = 36;

export function isTable(value: unknown): value is TomlValues {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
