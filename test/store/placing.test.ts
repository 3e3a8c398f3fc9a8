import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beginPlacing, finishPlacing, isPlacing } from "../../src/store/sqlite/data-directory.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-placing-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function put(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
}

function found(): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  const paths = files.map((one) => join(one.parentPath, one.name));
  return Object.fromEntries(
    paths.map((path) => [path.slice(directory.length + 1), readFileSync(path, "utf8")]),
  );
}

const after = {
  "lintel.db": "new",
  "drivers/zigbee/network.json": "new",
  "lintel.lock": "",
  "set-aside-1/lintel.db": "old",
  "set-aside-1/lintel.db-wal": "old",
  "set-aside-1/drivers/zigbee/network.json": "old",
};

test("whole new files take the place of what a directory holds, which is set aside", () => {
  put({
    "lintel.db": "old",
    "lintel.db-wal": "old",
    "drivers/zigbee/network.json": "old",
    "lintel.lock": "",
  });
  put({ "restoring/lintel.db": "new", "restoring/drivers/zigbee/network.json": "new" });
  beginPlacing(directory);
  expect(isPlacing(directory)).toBe(true);
  expect(finishPlacing(directory)).toBe(join(directory, "set-aside-1"));
  expect(found()).toEqual(after);
  expect(isPlacing(directory)).toBe(false);
  expect(finishPlacing(directory)).toBeUndefined();
});

describe("goes on with what was cut off", () => {
  const cut: Readonly<Record<string, Readonly<Record<string, string>>>> = {
    "before anything was moved": {
      "lintel.db": "old",
      "lintel.db-wal": "old",
      "drivers/zigbee/network.json": "old",
      "replacing-1/lintel.db": "new",
      "replacing-1/drivers/zigbee/network.json": "new",
    },
    "between the database and its log": {
      "set-aside-1/lintel.db-wal": "old",
      "lintel.db": "old",
      "drivers/zigbee/network.json": "old",
      "replacing-1/lintel.db": "new",
      "replacing-1/drivers/zigbee/network.json": "new",
    },
    "with everything set aside": {
      "set-aside-1/lintel.db": "old",
      "set-aside-1/lintel.db-wal": "old",
      "set-aside-1/drivers/zigbee/network.json": "old",
      "replacing-1/lintel.db": "new",
      "replacing-1/drivers/zigbee/network.json": "new",
    },
    "with the database left to be moved": {
      "set-aside-1/lintel.db": "old",
      "set-aside-1/lintel.db-wal": "old",
      "set-aside-1/drivers/zigbee/network.json": "old",
      "drivers/zigbee/network.json": "new",
      "placing/lintel.db": "new",
    },
  };
  for (const [name, files] of Object.entries(cut))
    test(name, () => {
      put({ "lintel.lock": "", ...files });
      finishPlacing(directory);
      expect(found()).toEqual(after);
    });
});

test("half a build is no restore", () => {
  put({ "lintel.db": "old", "restoring/lintel.db": "half" });
  expect(finishPlacing(directory)).toBeUndefined();
  expect(readFileSync(join(directory, "lintel.db"), "utf8")).toBe("old");
  expect(existsSync(join(directory, "set-aside-1"))).toBe(false);
});
