import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import {
  command,
  commandsOf,
  leftOut,
  type Printed,
  printed,
} from "../../scripts/trial-programs/boot/readme.ts";

const trial = join(import.meta.dir, "../../scripts/trial-programs/boot");
const names = Object.keys(printed) as Printed[];

test.each(["README.md", "docs/install.md"])(
  "every command of %s is run by the trial of a booted box",
  (document) => {
    const run = names.filter((name) => printed[name][0] === document).map((name) => command(name));
    const missed = commandsOf(document).filter((line) => !(line in leftOut) && !run.includes(line));
    expect(missed).toEqual([]);
  },
);

test("what the trial runs is printed where it says, once", () => {
  for (const name of names) expect(command(name)).toStartWith(printed[name][2]);
});

test("what it leaves out is printed there", () => {
  expect(
    Object.keys(leftOut).filter(
      (line) => ![...commandsOf("README.md"), ...commandsOf("docs/install.md")].includes(line),
    ),
  ).toEqual([]);
});

test("a step of the trial asks for each of them", () => {
  const steps = [...new Glob("*.ts").scanSync(trial)].filter((file) => file !== "readme.ts");
  const text = steps.map((file) => readFileSync(join(trial, file), "utf8")).join("\n");
  expect(names.filter((name) => !text.includes(`"${name}"`))).toEqual([]);
});
