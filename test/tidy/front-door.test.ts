import { expect, test } from "bun:test";
import { type SourceFile, sourceFiles } from "../../testbed/source-files.ts";

/** Files that show or measure the program that people start. */
const shipped = /^(test\/shipped|scripts\/(aarch64|benchmarks|trial-programs)(?!\/with-source))\//;
/** Files that may be used with that program: tests and scripts without its source, and the simulated devices. */
const around =
  /^(test|testbed|scripts)\/(?!.*with-source\/)|^drivers\/[^/]+\/simulator\/|^drivers\/wire\/simulated-/;

test("what shows the shipped program imports nothing of it, not through others either", async () => {
  const files = new Map((await sourceFiles()).map((file) => [file.path, file]));
  const starts = [...files.values()].filter(({ path }) => shipped.test(path));
  expect(starts.length).toBeGreaterThan(20);
  expect(starts.flatMap((start) => ways(start, files))).toEqual([]);
});

test("nor does it name a file of the source, to start it or look into it", async () => {
  const files = (await sourceFiles()).filter(({ path }) => shipped.test(path));
  expect(files.filter(({ text }) => /\bsrc\//.test(text)).map(({ path }) => path)).toEqual([]);
});

/**
 * Each import that leads from a file to the source, with the file that has it. Simulators stand alone, and so does what publishes releases, which an attacker may
 * use too: the walk ends at them.
 */
function ways(start: SourceFile, files: ReadonlyMap<string, SourceFile>): string[] {
  const found: string[] = [];
  const seen = new Set([start.path]);
  for (const path of seen)
    for (const to of files.get(path)?.imports ?? []) {
      if (!around.test(to)) found.push(`${start.path}: ${path} imports ${to}`);
      else if (!/^drivers\/|^scripts\/publishing\//.test(to)) seen.add(to);
    }
  return found;
}
