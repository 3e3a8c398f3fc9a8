import { afterEach, beforeEach, expect, test } from "bun:test";
import { chmodSync, mkdirSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { day_ms } from "../../../src/base/time.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";

const runUpdate = join(import.meta.dir, "../../../packaging/run-update");
let directory: ReturnType<typeof temporaryDirectory>;
beforeEach(() => {
  directory = temporaryDirectory();
});
afterEach(() => directory[Symbol.dispose]());

/** A release whose updater ends with this code, once it has said who it is and with which words it was started. */
function release(name: string, code: number): string {
  const folder = join(directory.path, name);
  mkdirSync(folder);
  writeFileSync(join(folder, "lintel"), `#!/bin/sh\necho "${name} $*"\nexit ${code}\n`);
  chmodSync(join(folder, "lintel"), 0o755);
  return folder;
}

const link = (name: string, folder: string) => symlinkSync(folder, join(directory.path, name));

/** The updaters that ran, in order, and how it ended. */
function ran(): { ran: string[]; code: number } {
  const words = [runUpdate, directory.path, join(directory.path, "package"), "--json"];
  const { stdout, exitCode } = Bun.spawnSync(words);
  return { ran: stdout.toString().trim().split("\n"), code: exitCode };
}

test.each([0, 1, 2])("the updater of the confirmed release runs alone where it ends with %d", (code) => {
  release("package", 0);
  link("confirmed", release("0.3.0", code));
  link("previous", release("0.2.0", 0));
  expect(ran()).toEqual({ ran: ["0.3.0 update --json"], code });
});

test("where that is broken, the one before stands in for it, and then that of the package", () => {
  release("package", 0);
  link("confirmed", release("0.3.0", 7));
  link("previous", release("0.2.0", 1));
  const first = ["0.3.0 update --json", "0.2.0 update --stand-in --json"];
  expect(ran()).toEqual({ ran: first, code: 1 });
  writeFileSync(join(directory.path, "0.2.0/lintel"), "#!/bin/sh\nexit 3\n");
  expect(ran()).toEqual({ ran: ["0.3.0 update --json", "package update --stand-in --json"], code: 0 });
});

test("an updater that ends as if all were well and has looked for nothing for days is taken for broken", () => {
  link("confirmed", release("0.3.0", 0));
  link("previous", release("package", 0));
  const state = join(directory.path, "state.json");
  writeFileSync(state, "{}");
  expect(ran()).toEqual({ ran: ["0.3.0 update --json"], code: 0 });
  const days_ago = new Date(Date.now() - 4 * day_ms);
  utimesSync(state, days_ago, days_ago);
  // None writes a new state here, so each has its turn, and the package that is also the one before has one.
  expect(ran()).toEqual({ ran: ["package update --stand-in --json", "0.3.0 update --json"], code: 0 });
});

test("without a link the updater of the package runs", () => {
  release("package", 2);
  expect(ran()).toEqual({ ran: ["package update --json"], code: 2 });
});
