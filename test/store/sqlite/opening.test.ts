import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readOnlyDisk } from "../../../src/base/disk/disk-fault.ts";
import { sensor, sensorEvent, start_ms, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openBeside, openGateway, refusal } from "../../../testbed/sqlite/opening.ts";
import { mountSmall, mountsAllowed } from "./mount.ts";

const holder = join(import.meta.dir, "lock-holder.ts");

test("a missing data directory is made, for its owner alone", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "deep", "data");
  await (await openGateway(path)).close();
  expect(statSync(path).mode & 0o777).toBe(0o700);
});

test("each store has a name of its own, and keeps it", async () => {
  using one = temporaryDirectory();
  using other = temporaryDirectory();
  const epochs: string[] = [];
  for (const directory of [one, other, one]) {
    const store = await openGateway(directory.path);
    epochs.push(store.epoch);
    await store.close();
  }
  expect(epochs[0]).not.toBe(epochs[1]);
  expect(epochs[0]).toBe(epochs[2]);
});

test("a closed store leaves one database file, with nothing beside it but the empty lock", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  await store.append([sensorEvent(sensor(1), start_ms, 1)]);
  await store.page({
    series: "wirelesssensor_events",
    item: 1,
    before_ms: start_ms,
    skip: 0,
    limit: 1,
    precision: "s",
  });
  await store.close();
  const left = [...new Bun.Glob("*").scanSync(directory.path)].sort();
  expect(left).toEqual(["lintel.db", "lintel.lock"]);
});

test("a data directory that is a file is refused", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "data");
  writeFileSync(path, "");
  expect(await refusal(openGateway(path))).toBe(
    `OperatorError ${path} is not a directory: set \`data\` to a directory`,
  );
  expect(await refusal(openGateway(join(path, "below")))).toContain("is not a directory");
});

test.skipIf(!mountsAllowed)("a data directory on a read-only file system is refused", async () => {
  using mount = mountSmall({ readOnly: true });
  expect(await refusal(openGateway(mount.path))).toBe(
    `OperatorError ${mount.path} cannot be written: its file system is read-only: ${readOnlyDisk.remedy}`,
  );
});

test("a file that is no database, or a damaged one, is refused with the way back", async () => {
  using directory = temporaryDirectory();
  const path = databaseOf(directory.path);
  writeFileSync(path, "no database ".repeat(1000));
  const said = `OperatorError ${path} is damaged, could not be read, or is not a database at all: try again once, and look at \`dmesg\` for errors of the disk; if it stays so, \`lintel restore --from-central --replace\` sets it aside, sends what can still be read of it and brings the rest back; \`lintel restore DIR --replace\` does so from a backup`;
  expect(await refusal(openGateway(directory.path))).toBe(said);
  expect(await refusal(openBeside(directory.path))).toBe(said);
  expect(readFileSync(path, "utf8")).toBe("no database ".repeat(1000));
});

test("the database of another program is refused, and left as it is", async () => {
  using directory = temporaryDirectory();
  const path = databaseOf(directory.path);
  const foreign = new Database(path);
  foreign.run("CREATE TABLE songs (title TEXT)");
  foreign.close();
  expect(await refusal(openGateway(directory.path))).toContain(`${path} is a database of another program`);
});

test("a database from a newer version is refused", async () => {
  using directory = temporaryDirectory();
  await (await openGateway(directory.path)).close();
  const path = databaseOf(directory.path);
  const database = new Database(path);
  database.run("PRAGMA user_version = 99");
  database.close();
  for (const open of [openGateway, openBeside]) {
    expect(await refusal(open(directory.path))).toMatch(
      /^OperatorError .*lintel\.db was written by a newer Lintel \(schema 99; .*\): install that version again/,
    );
  }
});

test("a second gateway is refused by the name of the first, until that one is killed", async () => {
  using directory = temporaryDirectory();
  const child = Bun.spawn([process.execPath, holder, directory.path], { stdout: "pipe", stderr: "inherit" });
  await child.stdout.getReader().read();
  expect(await refusal(openGateway(directory.path))).toBe(
    `OperatorError another Lintel (process ${child.pid}) is already running on ${directory.path}: ` +
      "stop that one, or give this one a `data` directory of its own",
  );
  child.kill("SIGKILL");
  await child.exited;
  await (await openGateway(directory.path)).close();
});

test("a second gateway is refused in the same process too, and the first goes on", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  expect(await refusal(openGateway(directory.path))).toContain("already running");
  expect(await store.append([sensorEvent(sensor(1), start_ms, 1)])).toMatchObject({ first_seq: 1 });
  await store.close();
});

test("a command beside a running gateway reads what is committed, and its tokens hold at once", async () => {
  using directory = temporaryDirectory();
  const store = await openGateway(directory.path);
  const beside = await openBeside(directory.path);
  await store.append([sensorEvent(sensor(1), start_ms, 7)]);
  expect((await beside.overview()).last_seq).toBe(1);
  const token = {
    id: "aaaaaaaaaaaa",
    name: "x",
    scope: "read",
    hash: new Uint8Array(32),
    created_ms: 1,
  } as const;
  await beside.addToken(token);
  expect(await store.token(token.id)).toEqual(token);
  expect(await store.append([sensorEvent(sensor(2), start_ms, 8)])).toMatchObject({ first_seq: 2 });
  expect(await beside.revokeToken(token.id)).toBe(true);
  expect(await store.token(token.id)).toBeUndefined();
  await beside.close();
  await store.close();
});

test("a command of a user who may not look into the data directory is told so, not that there is nothing", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "data");
  await (await openGateway(path)).close();
  // Root may look everywhere: for a moment this process is nobody, who may not.
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  else chmodSync(path, 0);
  try {
    expect(await refusal(openBeside(path))).toContain(`this user may not look into ${path}: run this as`);
  } finally {
    if (root) process.seteuid?.(0);
    else chmodSync(path, 0o700);
  }
});

test("a command needs a database, and makes one only where it is told to", async () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "data");
  expect(await refusal(openBeside(path))).toContain(`there is no Lintel database in ${path}`);
  expect(existsSync(path)).toBe(false);
  const beside = await openBeside(path, { create: true });
  await beside.addToken({
    id: "aaaaaaaaaaaa",
    name: "x",
    scope: "read",
    hash: new Uint8Array(32),
    created_ms: 1,
  });
  await beside.close();
  const store = await openGateway(path);
  expect(await store.tokens()).toHaveLength(1);
  await store.close();
});

test("a command refuses an older database that a gateway is using, and brings it up to date where none is", async () => {
  using directory = temporaryDirectory();
  mkdirSync(directory.path, { recursive: true });
  // The oldest there can be: a file that a gateway has made and not yet filled.
  new Database(databaseOf(directory.path)).run("PRAGMA journal_mode = WAL");
  const child = Bun.spawn([process.execPath, holder, directory.path, "--lock-only"], { stdout: "pipe" });
  await child.stdout.getReader().read();
  expect(await refusal(openBeside(directory.path))).toContain("already running");
  child.kill("SIGKILL");
  await child.exited;
  const beside = await openBeside(directory.path);
  expect((await beside.overview()).schemaVersion).toBeGreaterThan(0);
  await beside.close();
});
