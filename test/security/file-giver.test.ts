import { afterEach, beforeEach, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { readManifest } from "../../src/cli/backup/backup-files.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { LostBox } from "../cli/lost-box.ts";

/** Somebody gives a backup that they have changed, or a file of records, to whoever keeps a box. */

let box: LostBox;
let stick: string;
beforeEach(async () => {
  box = new LostBox({ commands: lintelHere });
  box.configure();
  stick = join(box.site.directory, "stick");
  await box.live(1, 10);
  await box.run("backup", stick, "--config", box.site.config);
  box.lose();
});
afterEach(() => box[Symbol.asyncDispose]());

type Written = { bytes: number; sha256: string; path?: string };
interface Changeable {
  directory: string;
  files: Record<string, Written>;
}

const written = (text: string): Written => ({
  bytes: text.length,
  sha256: createHash("sha256").update(text).digest("hex"),
});

/** Changes the manifest, with digests that fit. */
function forge(change: (manifest: Changeable, files: string) => void): void {
  const path = join(stick, "manifest.json");
  const manifest = JSON.parse(readFileSync(path, "utf8")) as Changeable;
  change(manifest, join(stick, manifest.directory));
  writeFileSync(path, JSON.stringify(manifest));
}

const restore = (...words: string[]) =>
  box.site.lintel("restore", stick, ...words, "--config", box.site.config);

test.each([
  "../escaped",
  "../../escaped",
  "drivers/../../escaped",
  "drivers/zigbee/../../../escaped",
  "/tmp/escaped",
  "./escaped",
  "drivers//../escaped",
  "escaped/..",
])("a backup that names a file %s is refused, and nothing is written", async (name) => {
  const text = "from a stranger";
  // Where the names lead from the backup, so that it is whole as it says.
  for (const place of [join(stick, "escaped"), join(box.site.directory, "escaped")])
    writeFileSync(place, text);
  forge((manifest) => {
    manifest.files[name] = written(text);
  });
  const before = readdirSync(box.site.directory).toSorted();
  const { code, said } = await restore();
  expect({ code, said }).toEqual({
    code: 2,
    said: expect.stringContaining("is not what this version of Lintel writes"),
  });
  expect(box.exists()).toBe(false);
  expect(readdirSync(box.site.directory).toSorted()).toEqual(before);
  expect(existsSync("/tmp/escaped")).toBe(false);
});

test("a backup whose folder lies elsewhere is refused", async () => {
  for (const directory of ["..", "../stick", "/etc", "backup-00000000/../.."]) {
    forge((manifest) => {
      manifest.directory = directory;
    });
    expect((await restore()).code).toBe(2);
    expect(box.exists()).toBe(false);
  }
});

test("a link in a backup writes nothing through it, and no link is restored", async () => {
  const target = join(box.site.directory, "target");
  mkdirSync(target);
  const text = "from a stranger";
  writeFileSync(join(target, "own"), text);
  const { directory } = readManifest(stick);
  mkdirSync(join(stick, directory, "drivers"), { recursive: true });
  symlinkSync(target, join(stick, directory, "drivers/linked"));
  symlinkSync(join(target, "own"), join(stick, directory, "drivers/one"));
  forge((manifest) => {
    manifest.files["drivers/linked/own"] = written(text);
    manifest.files["drivers/one"] = written(text);
  });
  await restore();
  expect(readdirSync(target)).toEqual(["own"]);
  expect(readFileSync(join(target, "own"), "utf8")).toBe(text);
  const links = readdirSync(box.site.data, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isSymbolicLink(),
  );
  expect(links).toEqual([]);
});

test("programs and shell words in a backup and in records are not run", async () => {
  const proof = join(box.site.directory, "ran");
  const script = `#!/bin/sh\ntouch ${proof}\n`;
  const words = [`$(touch ${proof})`, `\`touch ${proof}\``, `; touch ${proof} #`, `|touch ${proof}`];
  const { directory } = readManifest(stick);
  const names = ["drivers/zigbee/start.sh", "preload.ts", "bunfig.toml", "package.json"];
  mkdirSync(join(stick, directory, "drivers/zigbee"), { recursive: true });
  const contents = [
    script,
    `await Bun.write("${proof}", "");`,
    `preload = ["./preload.ts"]`,
    `{"scripts":{"preinstall":"touch ${proof}"}}`,
  ];
  forge((manifest, files) => {
    for (const [index, name] of names.entries()) {
      writeFileSync(join(files, name), contents[index] ?? "");
      chmodSync(join(files, name), 0o755);
      manifest.files[name] = written(contents[index] ?? "");
    }
  });
  await restore();
  expect(box.exists()).toBe(true);
  const records = join(box.site.directory, "records.json");
  writeFileSync(
    records,
    JSON.stringify({
      homes: [{ homeid: 12, cityname: words[0] }],
      items: words.map((modelname, index) => ({
        ...{ itemid: index + 1, itemname: `$(touch ran) ${index}`, modelname, typename: "wirelesssensors" },
      })),
    }),
  );
  expect((await box.site.lintel("import", records, "--data", box.site.data)).code).toBe(0);
  for (const command of ["items", "status", "doctor", "report"])
    await box.site.lintel(command, "--config", box.site.config);
  const gateway = await box.site.run();
  expect(await gateway.stop()).toBe(0);
  expect(existsSync(proof)).toBe(false);
  rmSync(records);
});
