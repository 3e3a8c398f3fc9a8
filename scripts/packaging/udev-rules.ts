import { sticks } from "../../drivers/wire/sticks.ts";

/**
 * Rules of udev for the sticks that are known by name: /dev/lintel/zigbee and /dev/lintel/ble lead to the one that is plugged in, whichever
 * it is, and ModemManager, which would send commands for modems to it, leaves it alone.
 */
export function udevRules(): string {
  const rules = sticks
    .filter(({ driver }) => driver !== undefined)
    .flatMap(({ named, title, driver }) => {
      const globs = globsOf(named);
      return [
        `# ${title}`,
        `ENV{ID_SERIAL}=="${globs.join("|")}", ENV{ID_MM_DEVICE_IGNORE}="1", SYMLINK+="lintel/${driver}", GOTO="lintel_end"`,
      ];
    });
  return `# Known sticks by one name each, of the package lintel. Made from drivers/wire/sticks.ts. systemd names all serial ports below /dev/serial/by-id before.
ACTION=="remove", GOTO="lintel_end"
SUBSYSTEM!="tty", GOTO="lintel_end"
${rules.join("\n")}
LABEL="lintel_end"
`;
}

/** Globs, as udev has them, that match what a pattern of letters, `.*`, `|` and groups does, in capitals and small letters. */
export function globsOf(pattern: RegExp): string[] {
  return alternatives(pattern.source).map(
    (text) =>
      `*${text
        .replaceAll("\\.", "\0")
        .replaceAll(".*", "*")
        .replaceAll(/[a-z]/gi, (letter) => `[${letter.toLowerCase()}${letter.toUpperCase()}]`)
        .replaceAll("\0", ".")}*`,
  );
}

/** A pattern without `|` and groups: one for each way through them. */
function alternatives(source: string): string[] {
  const group = /\(([^()]*)\)/.exec(source);
  if (group === null) return source.split("|");
  const [found, inner = ""] = group;
  const within = splitOutside(source, "|").find((part) => part.includes(found)) ?? source;
  const others = splitOutside(source, "|").filter((part) => part !== within);
  const chosen = inner.split("|").map((one) => within.replace(found, one));
  return [...chosen.flatMap(alternatives), ...others.flatMap(alternatives)];
}

/** Parts between separators that stand in no group. */
function splitOutside(text: string, separator: string): string[] {
  const parts = [""];
  let depth = 0;
  for (const character of text) {
    depth += character === "(" ? 1 : character === ")" ? -1 : 0;
    if (character === separator && depth === 0) parts.push("");
    else parts[parts.length - 1] += character;
  }
  return parts;
}
