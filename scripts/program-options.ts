import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { figuresText } from "./figures.ts";

type Default = number | string | boolean | undefined;

type Options<Defaults> = {
  readonly [Name in keyof Defaults]: Defaults[Name] extends number
    ? number
    : Defaults[Name] extends boolean
      ? boolean
      : Defaults[Name] extends string
        ? string
        : string | undefined;
} & { readonly words: readonly string[] };

/**
 * Options of a trial or benchmark, by their defaults: a number where the default is one, else a text or a flag; `words` are the rest, where they are allowed.
 * Prints the usage and ends with 0 for --help, and with 2 for an option that is unknown, no number where it has to be one, or not `sound`.
 */
export function optionsOf<Defaults extends Readonly<Record<string, Default>>>(
  usage: string,
  defaults: Defaults,
  sound: (options: Options<Defaults>) => boolean = () => true,
  { allowPositionals = false } = {},
): Options<Defaults> {
  const ended = (code: number): never => {
    console.log(usage);
    process.exit(code);
  };
  const kinds: Record<string, { type: "boolean" | "string" }> = { help: { type: "boolean" } };
  for (const [name, one] of Object.entries(defaults))
    kinds[name] = { type: typeof one === "boolean" ? "boolean" : "string" };
  const given = (() => {
    try {
      return parseArgs({ allowPositionals, options: kinds });
    } catch (thrown) {
      console.error((thrown as Error).message);
      return ended(2);
    }
  })();
  if (given.values["help"]) ended(0);
  const options = Object.fromEntries(
    Object.entries(defaults).map(([name, one]) => {
      const value = given.values[name] ?? one;
      return [name, typeof one === "number" ? Number(value) : value];
    }),
  );
  const all = { ...options, words: given.positionals } as Options<Defaults>;
  if (Object.values(options).some(Number.isNaN) || !sound(all)) ended(2);
  return all;
}

/** Runs a part of a program, `./scripts/trials NAME PART …`: the file of that name in the program's folder. Lists the parts otherwise. */
export async function runPart(program: string, parts: readonly string[]): Promise<void> {
  const name = basename(program, ".ts");
  const fileOf = (part: string) => join(dirname(program), name, `${part}.ts`);
  const part = process.argv[2];
  if (part === undefined || !parts.includes(part)) {
    console.log(`./scripts/trials ${name} PART [--help]`);
    for (const one of parts) {
      const [, subject = ""] = /^ \* (.*)$/m.exec(await Bun.file(fileOf(one)).text()) ?? [];
      console.log(`  ${one.padEnd(12)} ${subject}`);
    }
    process.exit(part === "--help" ? 0 : 2);
  }
  process.argv.splice(2, 1);
  await import(fileOf(part));
}

/** The options of a benchmark, and those of its parts that are named, or all of them. Its usage says what each part measures. */
export function chosenParts<
  Part extends { readonly what: string },
  Defaults extends Readonly<Record<string, Default>>,
>(
  usage: string,
  parts: Readonly<Record<string, Part>>,
  defaults: Defaults,
): { chosen: Part[]; options: Options<Defaults> } {
  const lines = Object.entries(parts).map(([name, { what }]) => `  ${name.padEnd(11)}${what}`);
  const options = optionsOf(
    [`${usage} [PART …]   without a name all parts`, ...lines].join("\n"),
    defaults,
    ({ words }) => words.every((name) => Object.hasOwn(parts, name)),
    { allowPositionals: true },
  );
  const names = options.words.length === 0 ? Object.keys(parts) : options.words;
  return {
    chosen: Object.keys(parts)
      .filter((name) => names.includes(name))
      .map((name) => parts[name] as Part),
    options,
  };
}

/** Prints the figures of a run and each fault, and ends with 1 where there is one. */
export function endWith(
  name: string,
  figures: Readonly<Record<string, string | number>>,
  faults: readonly string[],
): never {
  console.log(figuresText(figures));
  for (const fault of faults) console.error(`${name}: ${fault}`);
  process.exit(faults.length === 0 ? 0 : 1);
}
