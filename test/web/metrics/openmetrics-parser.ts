/**
 * Reads OpenMetrics text by the grammar and the rules of the specification, version 1.0.0, and nothing besides: whatever is not exactly
 * as it says is an error.
 */
export interface ParsedFamily {
  readonly type: string;
  readonly unit: string;
  readonly help: string;
  readonly samples: readonly ParsedSample[];
}

export interface ParsedSample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export function parseOpenMetrics(text: string): ReadonlyMap<string, ParsedFamily> {
  if (!text.endsWith("# EOF\n")) throw new Error("it does not end with # EOF and a line feed");
  const lines = text.slice(0, -"# EOF\n".length).split("\n");
  if (lines.pop() !== "") throw new Error("the line before # EOF does not end");
  const families = new Map<string, { type: string; unit: string; help: string; samples: ParsedSample[] }>();
  let current = "";
  const told = new Set<string>();
  for (const line of lines) {
    const descriptor = /^# (TYPE|UNIT|HELP) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.*)$/.exec(line);
    if (descriptor !== null) {
      const [, what = "", name = "", rest = ""] = descriptor;
      if (name !== current) {
        if (families.has(name)) throw new Error(`${name} comes twice, with others between`);
        families.set(name, { type: "unknown", unit: "", help: "", samples: [] });
        current = name;
        told.clear();
      }
      const family = families.get(name);
      if (family === undefined || told.has(what)) throw new Error(`${name} has two lines of ${what}`);
      if (family.samples.length > 0) throw new Error(`${line} comes after a sample`);
      told.add(what);
      if (what === "TYPE") family.type = typeOf(rest);
      if (what === "UNIT") family.unit = rest;
      if (what === "HELP") family.help = unescaped(rest);
      if (what === "UNIT" && !name.endsWith(`_${rest}`))
        throw new Error(`${name} does not end with its unit ${rest}`);
      continue;
    }
    if (line.startsWith("#")) throw new Error(`no such line: ${line}`);
    families.get(current)?.samples.push(sampleOf(line));
    if (current === "") throw new Error(`${line} belongs to no family`);
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

const types = ["counter", "gauge", "histogram", "gaugehistogram", "stateset", "info", "summary", "unknown"];

function typeOf(text: string): string {
  if (!types.includes(text)) throw new Error(`${text} is no type`);
  return text;
}

function sampleOf(line: string): ParsedSample {
  const [, name = "", labels, number = ""] =
    /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
  if (name === "") throw new Error(`no sample: ${line}`);
  if (!/^([+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]Inf|NaN)$/.test(number))
    throw new Error(`${number} is no number`);
  return {
    name,
    labels: labels === undefined ? {} : labelsOf(labels),
    value: Number(number.replace("Inf", "Infinity")),
  };
}

function labelsOf(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  for (;;) {
    const match = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,?)/.exec(rest);
    if (match === null) throw new Error(`no labels: ${text}`);
    const [whole, label = "", value = "", comma] = match;
    if (label in labels) throw new Error(`${label} comes twice in ${text}`);
    labels[label] = unescaped(value);
    rest = rest.slice(whole.length);
    if (comma === "" && rest === "") return labels;
    if (comma === "" || rest === "") throw new Error(`no labels: ${text}`);
  }
}

function unescaped(text: string): string {
  if (!/^(?:[^"\\\n]|\\["\\n])*$/.test(text)) throw new Error(`not escaped: ${text}`);
  return text.replace(/\\(.)/g, (_, character) => (character === "n" ? "\n" : character));
}

function checkFamily(name: string, { type, samples, help }: ParsedFamily): void {
  if (help === "") throw new Error(`${name} has no HELP`);
  if (samples.length === 0) throw new Error(`${name} has no samples`);
  const seen = new Set<string>();
  for (const sample of samples) {
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
    if (seen.has(key)) throw new Error(`${key} comes twice`);
    seen.add(key);
    const suffix = sample.name.slice(name.length);
    if (!sample.name.startsWith(name) || !(suffixes[type] ?? [""]).includes(suffix))
      throw new Error(`${sample.name} is no sample of the ${type} ${name}`);
    if (type === "counter" && !(sample.value >= 0)) throw new Error(`${sample.name} counts ${sample.value}`);
    if (type === "info" && sample.value !== 1) throw new Error(`${sample.name} is not 1`);
    if (type === "stateset" && !(sample.value === 0 || sample.value === 1))
      throw new Error(`${sample.name} is no state`);
    if (type === "stateset" && sample.labels[name] === undefined)
      throw new Error(`${sample.name} names no state`);
  }
  if (type === "histogram") checkHistogram(name, samples);
}

const suffixes: Readonly<Record<string, readonly string[]>> = {
  counter: ["_total", "_created"],
  histogram: ["_bucket", "_count", "_sum", "_created"],
  info: ["_info"],
};

function checkHistogram(name: string, samples: readonly ParsedSample[]): void {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const bounds = buckets.map(({ labels }) => Number(labels["le"]?.replace("Inf", "Infinity")));
  if (bounds.at(-1) !== Number.POSITIVE_INFINITY) throw new Error(`${name} does not end with +Inf`);
  const count = samples.find((sample) => sample.name === `${name}_count`)?.value;
  if (count !== buckets.at(-1)?.value) throw new Error(`${name} counts ${count}`);
  for (let step = 1; step < bounds.length; step += 1) {
    if (!((bounds[step] ?? 0) > (bounds[step - 1] ?? 0))) throw new Error(`${name} does not ascend`);
    if ((buckets[step]?.value ?? 0) < (buckets[step - 1]?.value ?? 0))
      throw new Error(`${name} is not cumulative`);
  }
}
