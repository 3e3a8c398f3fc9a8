import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../src/cli/burn-in/blocks.ts";
import { burnInChecks, burnInNames } from "../../../src/domain/burn-in.ts";
import { burnInInFile } from "../../../src/domain/burn-in-file.ts";
import { Site } from "../../../testbed/front-door.ts";
import { burnIn, interrupt, kill } from "./bench.ts";

const site = new Site();
afterAll(() => site.remove());
mkdirSync(site.data, { mode: 0o700 });
const state = join(site.data, "burn-in-state.json");
const record = join(site.data, "burn-in.json");
const fileOf = (path: string) => new Uint8Array(readFileSync(path));

const run = (words: readonly string[], does?: Parameters<typeof burnIn>[2]) =>
  burnIn(site, ["--data", site.data, ...words], does);

/** Every check but that of the disk is left out. */
const others = ["--skip", burnInNames.filter((name) => name !== "disk").join(","), "--reason", "no gateway"];

/** The last number of the screen. */
const lastOf = (lines: readonly string[]) =>
  lines.findLast((line) => line.startsWith("on disk: "))?.slice(9) ?? "";

/** A machine of tests cannot lose its power: the program is killed, and the boot is another. */
function otherBoot() {
  const kept = JSON.parse(readFileSync(state, "utf8"));
  kept.disk.open.boot = "an earlier one";
  writeFileSync(state, JSON.stringify(kept));
}

test("a burn-in goes on after a power cut, judges what the screen showed, and ends with a signed record", async () => {
  const begin = { "type it now": () => "", "Pull the plug of the box now": () => kill };
  const first = await run([], begin);
  expect(lastOf(first.lines)).toMatch(/^1-\d{4}-[A-Z]{2}$/);
  otherBoot();
  const answers = ["1-2-AA", lastOf(first.lines)];
  const judge = {
    "stood last on the screen": () => answers[0],
    "no number of the screen": () => answers[1],
    "Round 2 of 5": () => interrupt,
  };
  const second = await run([], judge);
  expect(second.lines.join("\n")).toMatch(
    /that is no number of the screen.*\n(.*\n)*Round 1 of 5: all 2,\d{3} blocks are there\./,
  );
  expect(second.code).toBe(130);
  const third = await run(["--skip", burnInNames.join(","), "--reason", "proven in another box"]);
  expect(third.lines[0]).toStartWith("What was checked has passed. Skipped: Disk, Power supply");
  expect(third.lines[1]).toBe("– Disk: skipped: proven in another box");
  expect(third.code).toBe(0);
  expect(() => statSync(join(site.data, "burn-in.blocks"))).toThrow();
  expect(burnInInFile(fileOf(record))?.signed.results.disk?.outcome).toBe("skipped");
  const again = await run([]);
  expect(again.code).toBe(2);
  expect(again.said).toContain("--again CHECK makes a check anew");
});

test("a record that was changed is no record", async () => {
  writeFileSync(record, readFileSync(record, "utf8").replace("proven in another box", "trust me"));
  const { code, said } = await run(["--show"]);
  expect(code).toBe(2);
  expect(said).toContain("has no record of a burn-in");
  rmSync(record);
});

test("a disk that forgot the whole burn-in is named by the number on the screen", async () => {
  const { lines, code } = await run(others, { "type it now": () => codeOf(3, 2_345) });
  expect(code).toBe(1);
  expect(lines[1]).toStartWith("This box may not go to a home. Failed: Disk. Skipped: Power supply");
  expect(lines.join("\n")).toContain(
    "After the power cut of round 3 the disk knew nothing of this burn-in: it forgot 2,345 blocks that it had acknowledged, and all before.",
  );
});

test("with --data it sends where the configuration of that directory says", async () => {
  const directory = join(site.directory, "configured");
  mkdirSync(directory, { mode: 0o700 });
  const upload = `[upload]\nurl = "http://127.0.0.1:9"\ntoken_file = "no-such-token"\n`;
  writeFileSync(join(directory, "lintel.toml"), `data = "${directory}"\n${upload}`);
  const skipped = burnInNames.filter((name) => name !== "upload").join(",");
  const { code, said } = await burnIn(site, ["--data", directory, "--skip", skipped, "--reason", "tried"]);
  expect(code).toBe(2);
  expect(said).toContain(`there is no Lintel database in ${directory}`);
});

test("the page for technicians has each check as the command asks for it", () => {
  const page = readFileSync(join(import.meta.dir, "../../../docs/burn-in.md"), "utf8");
  for (const [name, { asks, judged }] of Object.entries(burnInChecks))
    expect(page).toContain(`| \`${name}\` | ${asks} | ${judged} |`);
});
