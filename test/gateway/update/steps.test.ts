import { afterEach, beforeEach, expect, test } from "bun:test";
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
import { hour_ms } from "../../../src/base/time.ts";
import type { UpdaterOptions } from "../../../src/gateway/update/release-trial.ts";
import { linkedFolder, releaseIn, removeOthers } from "../../../src/gateway/update/releases.ts";
import {
  readState,
  type Trial,
  type UpdateState,
  writeState,
} from "../../../src/gateway/update/update-state.ts";
import { NothingUploaded, UpdatedData } from "../../../src/gateway/update/updated-home.ts";
import { update } from "../../../src/gateway/update/updater.ts";
import { keptLog, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

/** The updater by itself, from a state on the disk, with a service and data that note what is done with them. */
let directory: ReturnType<typeof temporaryDirectory>;
let package_: string;
let done: string[];
const clock = new SettableClock(Date.UTC(2026, 10, 20));
const watch_ms = 72 * hour_ms;

beforeEach(() => {
  directory = temporaryDirectory();
  package_ = makeFolder("package", "0.1.0");
  makeFolder("0.2.0", "0.2.0");
  link("confirmed", package_);
  done = [];
});
afterEach(() => directory[Symbol.dispose]());

function makeFolder(name: string, version: string): string {
  const path = join(directory.path, name);
  mkdirSync(path);
  writeFileSync(join(path, "release.json"), JSON.stringify({ version, commit: "", architecture: "arm64" }));
  return path;
}

const link = (name: string, folder: string) => symlinkSync(folder, join(directory.path, name));
const linked = (name: "current" | "confirmed" | "previous") => linkedFolder(directory.path, name);
const newer = () => join(directory.path, "0.2.0");

const trial: Trial = {
  phase: "trial",
  version: "0.2.0",
  sha256: "a",
  spent_ms: 0,
  runs: 0,
  baseline: { heard: [], restarts_a_day: 0, drivers: [], pages: [], uploads: true },
};

function stateOf(of: Partial<UpdateState>): void {
  writeState(directory.path, { format: "lintel update 1", refusals: [], confirmed: package_, ...of });
}

/** Goes on from the state; `looks` is what the judge finds, and `data` what goes otherwise than well. */
function goOn({
  looks = { missing: [] },
  data = {},
}: {
  looks?: { fault?: string; missing: string[] };
  data?: object;
} = {}) {
  const note = (what: string) => async () =>
    void done.push(`${what}, current ${linked("current") === newer() ? "new" : "old"}`);
  const own = releaseIn(package_);
  if (own === undefined) throw new Error("no release");
  const gateway = { paused: false, memory_bytes: 80e6, epoch: "e", last_seq: 7, heard: {} };
  return update({
    target: { directory: directory.path, trial_ms: 4 * hour_ms, watch_ms, ring: 50, manifest: "" },
    own,
    service: { stop: note("stop"), start: note("start") },
    judge: {
      look: async () => looks,
      seen: async () => ({ boot: "a", now: clock.now(), restarts: 0, gateway }),
    },
    data: {
      addToCopy: note("add to copy"),
      eraseInCopy: async (running: string, launcher: string) =>
        void done.push(`erase in copy what ${running} lists, by ${launcher}`),
      putBack: note("put back"),
      dropCopy: () => void done.push("drop copy"),
      uploadTruly: note("upload"),
      upload: async () => [],
      bytesOfFiles: async () => 1e9,
      heldAtCentral: async () => 7,
      ...data,
    },
    uploads: true,
    proving: false,
    clock,
    log: keptLog().log,
    pause: async (ms: number) => clock.advance(ms),
  } as unknown as UpdaterOptions);
}

test("what came since the copy is added to it while no gateway runs and before the new release may, and a fault leads back", async () => {
  stateOf({ trial });
  expect(await goOn({ looks: { fault: "it is deaf", missing: [] } })).toMatchObject({
    result: "went_back",
    message: expect.stringContaining("it is deaf"),
  });
  expect(done).toEqual([
    "stop, current old",
    "add to copy, current old",
    "start, current new",
    "stop, current old",
    "put back, current old",
    "start, current old",
    "drop copy",
    "drop copy",
  ]);
  expect(readState(directory.path)).toMatchObject({ refusals: [{ version: "0.2.0", reason: "went_back" }] });
  expect(readState(directory.path).trial).toBeUndefined();
  expect(existsSync(newer())).toBe(false);
});

test("a release whose upload sends nothing and says that all is well goes back", async () => {
  stateOf({ trial });
  const uploadTruly = async () => {
    throw new NothingUploaded("central holds its readings up to 1 of 2", false);
  };
  expect((await goOn({ data: { uploadTruly } })).message).toBe(
    "back on 0.1.0: central holds its readings up to 1 of 2",
  );
});

test("power that goes while the box goes back lets the next run do so", async () => {
  link("current", newer());
  const refusal = {
    version: "0.2.0",
    sha256: "a",
    reason: "went_back",
    message: "it is deaf",
    at_ms: 1,
    times: 1,
  };
  stateOf({ trial: { ...trial, phase: "back", refusal } as Trial });
  expect(await goOn()).toMatchObject({ result: "went_back" });
  expect(done.slice(0, 3)).toEqual(["stop, current old", "put back, current old", "start, current old"]);
});

test("a switch that fails, as on a full disk, leaves a gateway that runs, and is done the next time", async () => {
  stateOf({ trial });
  mkdirSync(join(directory.path, "current.new"));
  await expect(goOn()).rejects.toThrow();
  expect(done).toEqual(["stop, current old", "add to copy, current old", "start, current old"]);
  expect(readState(directory.path).trial).toMatchObject({ version: "0.2.0" });
  rmSync(join(directory.path, "current.new"), { recursive: true });
  done = [];
  await goOn({ looks: { fault: "it is deaf", missing: [] } });
  expect(done.slice(0, 3)).toEqual(["stop, current old", "add to copy, current old", "start, current new"]);
});

test("in its days a release is looked at once a run, erasures reach the copy, and after them it is confirmed and the copy goes", async () => {
  link("current", newer());
  const { unix_ms, monotonic_ms } = clock.now();
  const last = { boot: "a", monotonic_ms: Math.round(monotonic_ms), unix_ms, restarts: 0 };
  const began = { data_bytes: 1e9, last_seq: 7 };
  const days = { watched_ms: watch_ms - 2 * hour_ms, unanswered_ms: 0, last, began, restarts: 0 };
  const more = { windows: [], heard: [], noted: [], upload_faults: 0 };
  stateOf({ trial: { ...trial, phase: "days", days: { ...days, ...more } } });
  clock.advance(hour_ms);
  const erased = `erase in copy what ${join(newer(), "lintel")} lists, by ${join(package_, "lintel")}`;
  expect(await goOn()).toMatchObject({ result: "watched" });
  expect(done).toEqual([erased]);
  clock.advance(hour_ms);
  expect(await goOn()).toMatchObject({ result: "updated" });
  expect(done).toEqual([erased, erased, "drop copy"]);
  expect(readState(directory.path)).toMatchObject({ confirmed: "0.2.0", previous: package_ });
  expect([linked("current"), linked("confirmed"), linked("previous")]).toEqual([newer(), newer(), package_]);
});

test("of the releases that lie here stay those that a link leads to, and the one that waits", () => {
  for (const version of ["0.0.8", "0.0.9", "0.3.0", "unpacking"]) makeFolder(version, version);
  link("current", newer());
  link("previous", join(directory.path, "0.0.9"));
  const there = () => readdirSync(directory.path).sort();
  removeOthers(directory.path, join(directory.path, "0.3.0"));
  const others = ["confirmed", "current", "package", "previous"];
  expect(there()).toEqual(["0.0.9", "0.2.0", "0.3.0", ...others]);
  removeOthers(directory.path);
  expect(there()).toEqual(["0.0.9", "0.2.0", ...others]);
});

test("a package that is installed by hand in the middle of a trial ends it", async () => {
  stateOf({ trial });
  rmSync(join(directory.path, "confirmed"));
  expect(await goOn()).toMatchObject({ result: "overruled" });
  expect(readState(directory.path).trial).toBeUndefined();
  expect(done).toEqual(["drop copy"]);
});

test("the links follow the state, whatever they were when the power went, and the service what the links say", async () => {
  link("current", package_);
  stateOf({ confirmed: newer(), previous: package_ });
  expect(await goOn()).toMatchObject({ result: "refused" });
  expect([linked("current"), linked("confirmed"), linked("previous")]).toEqual([newer(), newer(), package_]);
  expect(done.slice(0, 2)).toEqual(["stop, current new", "start, current new"]);
});

/** A launcher that notes its words and prints a text. */
function launcher(name: string, prints: string): string {
  const path = join(directory.path, name);
  writeFileSync(path, `#!/bin/sh\necho "$*" >>'${path}.words'\nprintf '%s' '${prints}'\n`);
  chmodSync(path, 0o755);
  return path;
}

test("an upload counts by what central holds after it, as another release asks", async () => {
  const data = new UpdatedData({ data: directory.path, config: "/c", copy: join(directory.path, "copy") });
  const had = { epoch: "e", seq: 2 };
  const does = launcher("does", '{"stopped":[]}');
  const fault = await data
    .uploadTruly(does, launcher("asks", '{"held_seq":1}'), had)
    .catch((thrown) => thrown);
  expect(fault).toBeInstanceOf(NothingUploaded);
  expect(fault.message).toContain("up to 1 of 2");
  await data.uploadTruly(does, launcher("asks", '{"held_seq":2}'), had);
});

test("erasures that the running release lists are done again in the copy, by the one that made it", async () => {
  const copy = join(directory.path, "copy");
  const data = new UpdatedData({ data: directory.path, config: "/c", copy });
  const made = launcher("made", "");
  await data.eraseInCopy(launcher("none", "[]"), made);
  expect(existsSync(`${made}.words`)).toBe(false);
  await data.eraseInCopy(launcher("lists", '[{"id":"a"}]'), made);
  expect(readFileSync(`${made}.words`, "utf8")).toBe(`backup ${copy} --erase-again ${copy}-erasures.json\n`);
});
