/**
 * Finds the lines, from 1, of keys in a TOML document. The path of a key is its table and name, with the place, from 0, of a table in an
 * array of them: `["gateway", "2", "url"]`. A key without a line of its own has that of the nearest table around it, or line 1. The
 * document must have parsed already: this only finds keys that are known to be there. It is read once, when a line is first asked for.
 */
export function lineFinder(toml: string): (path: readonly string[]) => number {
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
