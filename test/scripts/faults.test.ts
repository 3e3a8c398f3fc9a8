import { expect, test } from "bun:test";
import { normalize } from "node:path";
import { nightly } from "../../testbed/nightly.ts";

const trial = normalize(`${import.meta.dir}/../../scripts/trials`);
const compiler = Bun.which("cc");
if (compiler === null) console.log("skipped: ./scripts/trials faults needs cc");

test.skipIf(compiler === null)(
  "calls that fail leave each part of the program healthy or clearly stopped, and a restart heals it",
  () => {
    const places = [
      // A commit, and the full disk after it.
      "gateway/sync/EIO/6",
      "gateway/write/ENOSPC/40",
      // Files beside the database.
      "upload/rename/EIO/1",
      ...(nightly ? more : []),
    ];
    const { out, exitCode } = ran("faults", ...places);
    // A part, its call and its errors; tried; three good ends; broken.
    const rows = [...out.matchAll(/^\| \w+ \| \w+ \| [^|]+ \| (\d+) \| .* \| (\d+) \|$/gm)];
    expect(rows.reduce((sum, [, tried]) => sum + Number(tried), 0)).toBe(places.length);
    expect({ broken: rows.map(([, , broken]) => broken).join(""), exitCode }).toEqual({
      broken: "0".repeat(rows.length),
      exitCode: 0,
    });
  },
);

const more = [
  "upload/rename/EIO/2",
  "upload/unlink/EIO/1",
  "central/write/short/12",
  "backup/sync/EINTR/7",
  "restore/open/EIO/9",
];

function ran(...words: string[]): { out: string; exitCode: number } {
  const { stdout, exitCode } = Bun.spawnSync([trial, ...words], { stderr: "inherit" });
  return { out: stdout.toString(), exitCode };
}
