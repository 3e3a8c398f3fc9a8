/** How long ago or how long, in the largest two units: `3 d 4 h`, `12 min`, `5 s`. */
export function spanText(span_ms: number): string {
  const seconds = Math.max(0, Math.round(span_ms / 1000));
  const units: readonly [name: string, seconds: number][] = [
    ["d", 86_400],
    ["h", 3_600],
    ["min", 60],
    ["s", 1],
  ];
  const first = units.findIndex(([, size]) => seconds >= size);
  if (first === -1) return "0 s";
  let rest = seconds;
  return units
    .slice(first, first + 2)
    .map(([name, size]) => {
      const count = Math.floor(rest / size);
      rest %= size;
      return count === 0 ? "" : `${count} ${name}`;
    })
    .filter((part) => part !== "")
    .join(" ");
}

/** Milliseconds of a span such as `90d`, `12h`, `30min` or `2w`; undefined where the text is none. */
export function parseSpan_ms(text: string): number | undefined {
  const match = /^(\d{1,6})\s*(s|min|h|d|w|y)$/.exec(text);
  const unit_s = match?.[2] === undefined ? undefined : unitSeconds[match[2]];
  if (unit_s === undefined) return undefined;
  const span_ms = Number(match?.[1]) * unit_s * 1000;
  return span_ms > 0 ? span_ms : undefined;
}

const unitSeconds: Readonly<Record<string, number>> = {
  s: 1,
  min: 60,
  h: 3_600,
  d: 86_400,
  w: 604_800,
  y: 31_536_000,
};

/** A moment as people read it, in UTC to the second: `2026-03-01 14:05:09Z`. */
export function momentText(unix_ms: number): string {
  return `${new Date(unix_ms).toISOString().slice(0, 19).replace("T", " ")}Z`;
}

/** Bytes in the unit that leaves one to three digits before the point: `41.2 MB`. */
export function bytesText(bytes: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 ? value : value.toFixed(1)} ${units[unit]}`;
}
