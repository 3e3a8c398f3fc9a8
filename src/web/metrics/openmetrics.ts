/** A metric family: a name without its unit, its meaning, and its present values. */
export type Family = {
  /** Lower case with underscores, beginning with `lintel`. */
  readonly name: string;
  /** A sentence without a full stop. */
  readonly help: string;
  /** A base unit such as `seconds` or `bytes`, added to the name. */
  readonly unit?: string;
} & (
  | { readonly type: "counter" | "gauge"; readonly values: readonly Measured[] }
  | { readonly type: "histogram"; readonly histogram: Histogram }
  /** Facts that are not numbers, as labels. */
  | { readonly type: "info"; readonly labels: Labels }
  /** In which of these states each of several things is. */
  | { readonly type: "stateset"; readonly states: readonly string[]; readonly values: readonly Stated[] }
);

export type Labels = Readonly<Record<string, string | number>>;
export interface Measured {
  readonly labels?: Labels;
  readonly value: number;
}
export interface Stated {
  readonly labels: Labels;
  readonly state: string;
}

/** A number, or one for each of several things; undefined where it is not known now. */
type Values = number | readonly Measured[] | undefined;

export function counter(name: string, help: string, values: Values, unit?: string): Family {
  return { name, help, unit, type: "counter", values: measured(values) };
}

export function gauge(name: string, help: string, values: Values, unit?: string): Family {
  return { name, help, unit, type: "gauge", values: measured(values) };
}

function measured(values: Values): readonly Measured[] {
  if (values === undefined) return [];
  return typeof values === "number" ? [{ value: values }] : values;
}

export const openMetricsType = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/** Families as OpenMetrics text, version 1.0.0. A family without values is left out. */
export function openMetricsText(families: readonly Family[]): string {
  return `${families.map(familyText).join("")}# EOF\n`;
}

function familyText(family: Family): string {
  const { type, unit, help } = family;
  const name = unit === undefined ? family.name : `${family.name}_${unit}`;
  const samples = samplesOf(name, family);
  if (samples.length === 0) return "";
  const head = [`# TYPE ${name} ${type}`, ...(unit === undefined ? [] : [`# UNIT ${name} ${unit}`])];
  return `${[...head, `# HELP ${name} ${escaped(help)}`, ...samples].join("\n")}\n`;
}

function samplesOf(name: string, family: Family): string[] {
  switch (family.type) {
    case "gauge":
      return family.values.map(({ labels, value }) => sample(name, labels, value));
    case "counter":
      return family.values.map(({ labels, value }) => sample(`${name}_total`, labels, value));
    case "info":
      return [sample(`${name}_info`, family.labels, 1)];
    case "stateset":
      return family.values.flatMap(({ labels, state }) =>
        family.states.map((one) => sample(name, { ...labels, [name]: one }, one === state ? 1 : 0)),
      );
    case "histogram":
      return histogramSamples(name, family.histogram);
  }
}

function histogramSamples(name: string, { bounds, cumulative, sum }: Histogram): string[] {
  const count = cumulative.at(-1) ?? 0;
  return [
    ...bounds.map((bound, step) => sample(`${name}_bucket`, { le: floatText(bound) }, cumulative[step] ?? 0)),
    sample(`${name}_bucket`, { le: "+Inf" }, count),
    sample(`${name}_count`, {}, count),
    sample(`${name}_sum`, {}, sum),
  ];
}

function sample(name: string, labels: Labels = {}, value: number): string {
  const written = Object.entries(labels).map(([label, text]) => `${label}="${escaped(String(text))}"`);
  return `${name}${written.length === 0 ? "" : `{${written.join(",")}}`} ${numberText(value)}`;
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? "NaN" : value > 0 ? "+Inf" : "-Inf";
}

/** A bound is a float also where it is whole, so that every writer writes it alike. */
function floatText(value: number): string {
  return Number.isInteger(value) ? `${value}.0` : String(value);
}

function escaped(text: string): string {
  return text.replace(/[\\"\n]/g, (character) => (character === "\n" ? "\\n" : `\\${character}`));
}

/** How often values were how large: counts in fixed steps, for latencies that are looked at from outside. */
export class Histogram {
  /** Upper bounds of the steps, ascending; what lies above the last is counted beyond it. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = new Array(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let step = 0;
    while (step < this.bounds.length && value > (this.bounds[step] as number)) step += 1;
    this.#counts[step] = (this.#counts[step] ?? 0) + 1;
    this.#sum += value;
  }

  get sum(): number {
    return this.#sum;
  }

  /** The lowest bound, times a factor, that a share of the values was not above, and the last one where they were above all. Undefined without values. */
  below(share: number, factor: number): number | undefined {
    const { cumulative } = this;
    const count = cumulative.at(-1) ?? 0;
    if (count === 0) return undefined;
    const step = cumulative.findIndex((below) => below >= share * count);
    return (this.bounds[step] ?? this.bounds.at(-1) ?? 0) * factor;
  }

  /** How many values were at most each bound, and at last how many there were in all. */
  get cumulative(): number[] {
    let count = 0;
    return this.#counts.map((of) => {
      count += of;
      return count;
    });
  }
}
