import { afterEach, beforeEach, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
  readIfThere,
  readPlainFile,
  requirePlainFile,
  writeDurably,
} from "../../../src/base/disk/safe-files.ts";
import { UpdatedData } from "../../../src/gateway/update/updated-home.ts";
import { takeLock, uploadPost } from "../../../src/store/sqlite/data-directory.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";

/** A directory in which somebody else may write, and a file of ours outside of it. */
let directory: ReturnType<typeof temporaryDirectory>;
let data: string;
let secret: string;
beforeEach(() => {
  directory = temporaryDirectory();
  data = join(directory.path, "data");
  mkdirSync(data);
  secret = join(directory.path, "secret");
  writeFileSync(secret, "of root");
});
afterEach(() => directory[Symbol.dispose]());

const put: Readonly<Record<string, (path: string) => void>> = {
  "a pipe": (path) => void Bun.spawnSync(["mkfifo", path]),
  "a symbolic link to a file": (path) => symlinkSync(secret, path),
  "a symbolic link to nothing": (path) => symlinkSync(join(directory.path, "nothing"), path),
  "a symbolic link to a device": (path) => symlinkSync("/dev/zero", path),
  "a symbolic link to itself": (path) => symlinkSync(path, path),
  "a second name of a file": (path) => linkSync(secret, path),
  "a directory": (path) => mkdirSync(path),
  "a huge file": (path) => {
    writeFileSync(path, "");
    truncateSync(path, 2 ** 40);
  },
};

test.each(Object.entries(put))(
  "%s is no plain file: it is refused by name, and nothing is waited for",
  (_, make) => {
    const path = join(data, "upload.pid");
    make(path);
    expect(() => readPlainFile(path, 32)).toThrow(path);
  },
);

test("a socket is no plain file", () => {
  const path = join(data, "upload.pid");
  using _ = Bun.listen({ unix: path, socket: { data: () => {} } });
  expect(() => readPlainFile(path, 32)).toThrow("is no regular file");
});

test("a plain file is read, and one that is not there is none", () => {
  const path = join(data, "upload.pid");
  expect(readPlainFile(path, 32)).toBeUndefined();
  writeFileSync(path, "1234\n");
  expect(readPlainFile(path, 32)).toBe("1234\n");
  writeFileSync(path, "");
  expect(readPlainFile(path, 32)).toBe("");
});

test.each(["a pipe", "a symbolic link to a file", "a symbolic link to a device", "a huge file"])(
  "whether somebody uploads is not to be found out from %s, and the updater says so at once",
  (what) => {
    put[what]?.(join(data, "upload.pid"));
    const home = new UpdatedData({ data, config: "", copy: "" });
    expect(() => home.uploading).toThrow(join(data, "upload.pid"));
  },
);

test("what stands in the file of a process may name no other file", () => {
  writeFileSync(join(data, "upload.pid"), "../../tmp/upload");
  expect(new UpdatedData({ data, config: "", copy: "" }).uploading).toBe(false);
});

test("a lock and a file that replaces another are never written through a link", () => {
  symlinkSync(secret, join(data, "upload.pid"));
  takeLock(data, uploadPost).release();
  symlinkSync(secret, join(data, "state.json.new"));
  writeDurably(join(data, "state.json"), "{}");
  expect(readFileSync(secret, "utf8")).toBe("of root");
  expect(readFileSync(join(data, "state.json"), "utf8")).toBe("{}");
});

test("a lock and a database that are pipes are refused at once", () => {
  put["a pipe"]?.(join(data, "upload.lock"));
  expect(() => takeLock(data, uploadPost)).toThrow("upload.lock is no regular file");
  put["a pipe"]?.(join(data, "lintel.db"));
  expect(() => requirePlainFile(join(data, "lintel.db"))).toThrow("lintel.db is no regular file");
});

test("a link that root did not make is not followed by root", () => {
  const path = join(data, "lintel.db");
  symlinkSync(secret, path);
  // The owner of the link decides, and only root is asked to be careful.
  if (process.getuid?.() !== 0) return expect(() => requirePlainFile(path)).not.toThrow();
  expect(() => requirePlainFile(path)).not.toThrow();
  Bun.spawnSync(["chown", "-h", "65534", path]);
  expect(() => requirePlainFile(path)).toThrow("is a symbolic link of another user");
});

test("a file that is there as a pipe is not waited for by any reader", () => {
  const path = join(data, "home-records.json");
  put["a pipe"]?.(path);
  chmodSync(path, 0o666);
  expect(() => readIfThere(path)).toThrow("it is no regular file");
  expect(existsSync(path)).toBe(true);
});
