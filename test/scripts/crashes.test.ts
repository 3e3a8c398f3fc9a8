import { expect, test } from "bun:test";
import { normalize } from "node:path";
import { nightly } from "../../testbed/nightly.ts";

const trial = normalize(`${import.meta.dir}/../../scripts/trials`);
const compiler = Bun.which("cc");
if (compiler === null) console.log("skipped: ./scripts/trials crashes needs cc");

test.skipIf(compiler === null)(
  "each state that a power cut may leave on the disk of a home has what was acknowledged",
  () => {
    const words = ["crashes", "--states", nightly ? "200" : "40", "gateway", "restore"];
    const { stdout, exitCode } = Bun.spawnSync([trial, ...words], { stderr: "inherit" });
    const out = stdout.toString();
    expect(out).toMatch(/^\| gateway \| \d+ \| \d+ \| 0 \|\n\| restore \| \d+ \| \d+ \| 0 \|$/m);
    expect(exitCode).toBe(0);
  },
);
