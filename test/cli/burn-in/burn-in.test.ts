import { afterAll, expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { codeOf } from "../../../src/cli/burn-in/blocks.ts";
import { burnInInFile } from "../../../src/domain/burn-in-file.ts";
import { Site } from "../../../testbed/front-door.ts";
import { linesOf } from "../../../testbed/lines.ts";

const site = new Site();
afterAll(() => site.remove());
mkdirSync(site.data, { mode: 0o700 });
const state = join(site.data, "burn-in-state.json");
const record = join(site.data, "burn-in.json");
const fileOf = (path: string) => new Uint8Array(readFileSync(path));

/** Runs `lintel burn-in` with answers, until a line has a text, and ends it there with a signal. Answers its lines, its end where there is no such line. */
async function burnIn(options: {
  words?: readonly string[];
  answers?: readonly string[];
  until?: string;
  signal?: NodeJS.Signals;
}) {
  const { words = [], answers = [], until, signal = "SIGKILL" } = options;
  const child = Bun.spawn([...site.program, "burn-in", "--data", site.data, ...words], {
    env: { PATH: "/usr/bin:/bin", HOME: site.home },
    stdin: new Blob(answers.map((text) => `${text}\n`)),
    stdout: "pipe",
    stderr: "pipe",
  });
  const lines: string[] = [];
  for await (const line of linesOf(child.stdout)) {
    lines.push(line);
    if (until !== undefined && line.includes(until)) child.kill(signal);
  }
  return { lines, said: await child.stderr.text(), code: await child.exited };
}

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
  const first = await burnIn({ answers: [""], until: "Pull the plug of the box now" });
  expect(lastOf(first.lines)).toMatch(/^1-\d{4}-[A-Z]{2}$/);
  otherBoot();
  const second = await burnIn({
    answers: ["1-2-AA", lastOf(first.lines)],
    until: "Round 2 of 5",
    signal: "SIGTERM",
  });
  expect(second.lines.join("\n")).toMatch(
    /that is no number of the screen.*\n(.*\n)*Round 1 of 5: all 2,\d{3} blocks are there\./,
  );
  expect(second.code).toBe(130);
  const third = await burnIn({ words: ["--skip", "disk", "--reason", "proven in another box"] });
  expect(third.lines[0]).toBe("What was checked has passed. Skipped: Disk.");
  expect(third.lines[1]).toBe("– Disk: skipped: proven in another box");
  expect(third.code).toBe(0);
  expect(() => statSync(join(site.data, "burn-in.blocks"))).toThrow();
  expect(burnInInFile(fileOf(record))?.signed.results.disk?.outcome).toBe("skipped");
  const again = await burnIn({});
  expect(again.code).toBe(2);
  expect(again.said).toContain("--again CHECK makes a check anew");
});

test("a record that was changed is no record", async () => {
  writeFileSync(record, readFileSync(record, "utf8").replace("proven in another box", "trust me"));
  const { code, said } = await burnIn({ words: ["--show"] });
  expect(code).toBe(2);
  expect(said).toContain("has no record of a burn-in");
  rmSync(record);
});

test("a disk that forgot the whole burn-in is named by the number on the screen", async () => {
  const { lines, code } = await burnIn({ answers: ["2-1234-XX", codeOf(3, 2_345)] });
  expect(code).toBe(1);
  expect(lines).toContain("This box may not go to a home. Failed: Disk.");
  expect(lines.join("\n")).toContain(
    "After the power cut of round 3 the disk knew nothing of this burn-in: it forgot 2,345 blocks that it had acknowledged, and all before.",
  );
});
