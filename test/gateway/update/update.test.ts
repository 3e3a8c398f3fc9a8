import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { day_ms } from "../../../src/base/time.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { breaksItsUpdaterWhenThere, faults } from "../../../testbed/updates/release-faults.ts";
import { UpdatingBox } from "../../../testbed/updates/updating-box.ts";
import { testAtNight } from "../../at-night.ts";

/** Whole updates. steps.test.ts and run-update.test.ts ask by day, of their parts, what is asked of a box here at night. */
let box: UpdatingBox;
beforeEach(async () => {
  box = new UpdatingBox();
  await box.boot();
});
afterEach(() => box[Symbol.asyncDispose]());

test("a box takes the newest release for its ring, without Bun where it has that, keeps it once it has served for a while, and nothing of the ones before", async () => {
  const package_ = box.publish({ version: "0.2.0", bun: "of both" });
  box.publish({ version: "0.3.0", ring: 5, bun: "of both" });
  box.server.cutAfter_bytes = 200_000;
  const { code, said } = await box.startUpdate();
  expect({ code, said }).toEqual({ code: 2, said: expect.stringContaining("(it was cut off 5 times)") });
  box.server.cutAfter_bytes = 1_000_000;
  expect(await box.update()).toMatchObject({ result: "updated" });
  // It went on with the download where the connection was cut, also the next time.
  expect(box.server.ranges.slice(0, 7)).toEqual([
    0, 200_000, 400_000, 600_000, 800_000, 1_000_000, 2_000_000,
  ]);
  // The new release's updater downloaded the end of its own package, and no more.
  expect(box.server.ranges.at(-1)).toBe(statSync(package_).size - 1024);
  expect(box.link("confirmed")).toBe("0.2.0");
  await box.serving();
  expect(box.running()).toContain("releases/current");
  expect(readdirSync(box.releases).toSorted()).toEqual([
    "0.2.0",
    "confirmed",
    "current",
    "metadata",
    "previous",
    "state.json",
    "update.lock",
  ]);
  expect(await box.update()).toMatchObject({ result: "newest" });
  box.list("widen", "--ring", "50", "--version", "0.3.0");
  const before = box.server.asked.length;
  expect(await box.update()).toMatchObject({ result: "updated" });
  const { releases } = JSON.parse(readFileSync(join(box.ledger, "ledger.json"), "utf8"));
  const { without_bun } = releases[0];
  expect(without_bun.bytes).toBeLessThan(releases[0].bytes);
  expect([...new Set(box.server.asked.slice(before))]).toEqual([without_bun.sha256]);
  expect(box.server.ranges.at(-1)).toBe(without_bun.bytes - 1024);
  expect(await box.status()).toMatchObject({
    running: "0.3.0",
    ring: 50,
    confirmed: "0.3.0",
    refusals: [],
  });
});

testAtNight(
  "the release before and the copy of the data stay until a release was watched for days, over a power cut too",
  async () => {
    box.configure("", 30, 3);
    box.publish({ version: "0.2.0", short: true });
    expect(await box.update()).toMatchObject({ result: "watched" });
    expect(box.state().trial).toMatchObject({ phase: "days", days: { watched_ms: 0 } });
    expect([box.link("current"), box.link("confirmed")]).toEqual(["0.2.0", box.link("confirmed")]);
    expect(box.link("confirmed")).toEndWith("package");
    expect(existsSync(join(box.releases, "copy"))).toBe(true);
    await box.cutPower();
    await box.boot();
    expect(box.running()).toContain("releases/current");
    expect(await box.judged()).toMatchObject({ result: "updated" });
    expect(box.link("confirmed")).toBe("0.2.0");
    expect(existsSync(join(box.releases, "copy"))).toBe(false);
  },
);

test("a release that does not start goes back by itself, is not tried again, and makes way for the next one", async () => {
  box.publish({ version: "0.2.0", fault: faults["does not start"], short: true });
  expect(await box.update()).toMatchObject({ result: "went_back" });
  await box.serving();
  expect(box.running()).toContain("releases/current");
  expect(box.link("current")).toContain("package");
  expect(await box.update()).toMatchObject({ result: "newest" });
  const { refusals, running } = await box.status();
  expect(running).toBe("0.1.0");
  expect(refusals).toMatchObject([{ version: "0.2.0", reason: "went_back", times: 1 }]);
  expect(refusals[0].message).toContain("had to be started again");
  box.publish({ version: "0.3.0", short: true });
  expect(await box.update()).toMatchObject({ result: "updated" });
});

test("a release that breaks its updater is not kept: it could bring no later one", async () => {
  box.publish({ version: "0.2.0", fault: faults["breaks its updater"], short: true });
  expect(await box.update()).toMatchObject({ result: "went_back" });
  await box.serving();
  expect(box.link("confirmed")).toContain("package");
  expect((await box.status()).refusals[0].message).toStartWith("its updater ends with 7");
  expect(readdirSync(box.releases)).not.toContain("proof");
});

testAtNight(
  "where the updater of a confirmed release breaks, an older one stands in and brings the next release",
  async () => {
    const broken = join(box.disk, "broken");
    box.publish({ version: "0.2.0", fault: breaksItsUpdaterWhenThere(broken, 7), short: true });
    expect(await box.update()).toMatchObject({ result: "updated" });
    writeFileSync(broken, "");
    // It is looked after as before: the confirmed release is the one that a worse one goes back to.
    box.publish({ version: "0.3.0", fault: faults["does not start"], short: true });
    expect(await box.update()).toMatchObject({ result: "went_back" });
    await box.serving();
    for (const link of ["current", "confirmed"] as const) expect(box.link(link)).toEndWith("0.2.0");
    box.publish({ version: "0.4.0", short: true });
    expect(await box.update()).toMatchObject({ result: "updated" });
    expect(box.link("confirmed")).toBe("0.4.0");
    expect(box.link("previous")).toEndWith("/0.2.0");
  },
);

testAtNight(
  "an updater that ends as if all were well and looks for nothing for days is taken for broken",
  async () => {
    const broken = join(box.disk, "broken");
    box.publish({ version: "0.2.0", fault: breaksItsUpdaterWhenThere(broken, 0), short: true });
    expect(await box.update()).toMatchObject({ result: "updated" });
    writeFileSync(broken, "");
    box.publish({ version: "0.3.0", short: true });
    await expect(box.update()).rejects.toThrow("the updater has failed");
    const days_ago = new Date(Date.now() - 4 * day_ms);
    utimesSync(join(box.releases, "state.json"), days_ago, days_ago);
    expect(await box.update()).toMatchObject({ result: "updated" });
    expect(box.link("confirmed")).toBe("0.3.0");
  },
);

/** Instants of an update, by what lies on the disk then. `scripts/trials update` tries any instant. */
const instants: Readonly<Record<string, (box: UpdatingBox) => boolean>> = {
  switching: (box) => box.state().trial !== undefined,
  judging: (box) => box.state().trial?.switched_ms !== undefined,
  "proving the updater": (box) => existsSync(join(box.releases, "proof/unpacking")),
};

describe("power that goes in the middle of", () => {
  for (const [name, isNow] of Object.entries(instants))
    (name === "judging" ? test : testAtNight)(
      `${name} leaves a box that serves, and that goes on`,
      async () => {
        // Where files are many, only while they are unpacked.
        box.publish({ version: "0.2.0", short: name !== "proving the updater" });
        await box.cutPowerWhen(() => isNow(box));
        await box.boot();
        expect(await box.update()).toMatchObject({ result: "updated" });
        await box.serving();
        expect(box.link("confirmed")).toBe("0.2.0");
      },
    );

  testAtNight("going back leaves a box that goes back", async () => {
    box.publish({ version: "0.2.0", fault: faults["does not start"], short: true });
    await box.cutPowerWhen(() => box.state().trial?.phase === "back");
    box.switchOn();
    expect(await box.update()).toMatchObject({ result: "went_back" });
    await box.serving();
    expect(box.link("current")).toContain("package");
  });
});

testAtNight("the links follow the state, whatever they were when the power went", async () => {
  box.publish({ version: "0.2.0", short: true });
  expect(await box.update()).toMatchObject({ result: "updated" });
  const package_ = box.link("previous") ?? "";
  // As between the state and the links.
  for (const link of ["confirmed", "previous"]) rmSync(join(box.releases, link));
  symlinkSync(package_, join(box.releases, "confirmed"));
  expect(await box.update()).toMatchObject({ result: "newest" });
  expect([box.link("confirmed"), box.link("previous")]).toEqual(["0.2.0", package_]);
  // Where the state was lost, the links have to do.
  rmSync(join(box.releases, "state.json"));
  expect(await box.update()).toMatchObject({ result: "newest" });
  expect(await box.status()).toMatchObject({ running: "0.2.0", confirmed: "0.2.0" });
});

testAtNight(
  "a switch that fails, as on a full disk, leaves a gateway that runs, and is done the next time",
  async () => {
    box.publish({ version: "0.2.0", short: true });
    // In the place of the link that is about to be made.
    const inTheWay = join(box.releases, "current.new");
    mkdirSync(inTheWay, { recursive: true });
    await expect(box.update()).rejects.toThrow("the updater has failed");
    expect(box.state().trial).toBeDefined();
    await box.serving();
    expect(box.running()).toContain("package");
    rmdirSync(inTheWay);
    expect(await box.update()).toMatchObject({ result: "updated" });
    expect(box.link("current")).toBe("0.2.0");
  },
);

testAtNight(
  "a package that is installed by hand in the middle of a trial ends it: what it brings runs, and is confirmed by nobody else",
  async () => {
    box.publish({ version: "0.2.0", short: true });
    const update = box.update();
    await eventually(() => box.state().trial?.switched_ms !== undefined || undefined, "the switch");
    await box.serving();
    // As its postinst does.
    for (const link of ["current", "confirmed"]) rmSync(join(box.releases, link));
    await box.restart();
    expect(await update).toMatchObject({ result: "overruled" });
    expect(readdirSync(box.releases).toSorted()).toEqual(["metadata", "state.json", "update.lock"]);
    expect(box.state().trial).toBeUndefined();
    await box.serving();
    expect(box.running()).toContain("package");
  },
);

test("a box refuses a package with other bytes than the list says, and one that is for another machine, and tells so in its state", async () => {
  const name = box.publish({ version: "0.2.0" }).replace(/.*\//, "");
  const served = readdirSync(join(box.server.folder, "targets/ring-500"));
  const path = join(box.server.folder, "targets/ring-500", served.find((one) => one.endsWith(name)) ?? "");
  const sound = readFileSync(path);
  const bytes = readFileSync(path);
  bytes[1_000] = (bytes[1_000] ?? 0) ^ 1;
  writeFileSync(path, bytes);
  expect(await box.update()).toMatchObject({ result: "refused" });
  // One that is longer is refused as well, and told.
  writeFileSync(path, Buffer.concat([sound, Buffer.alloc(100)]));
  expect(await box.update()).toMatchObject({ result: "refused" });
  writeFileSync(path, sound);
  box.list("withdraw", "--version", "0.2.0");
  box.publish({ version: "0.3.0", architecture: "riscv64" });
  expect(await box.update()).toMatchObject({ result: "refused" });
  expect((await box.status()).refusals).toMatchObject([
    { reason: "damaged", version: "0.2.0", times: 2 },
    { reason: "architecture" },
  ]);
  expect(existsSync(join(box.releases, "current"))).toBe(false);
});

testAtNight(
  "a first update that was cut off before the switch is not taken for a release that nobody has confirmed",
  async () => {
    box.publish({ version: "0.2.0", short: true });
    mkdirSync(box.releases, { recursive: true });
    symlinkSync(dirname(box.running() ?? ""), join(box.releases, "confirmed"));
    const { code, out, said } = await box.startUpdate();
    expect(said).not.toContain("nobody has confirmed");
    expect([code, JSON.parse(out).result]).toEqual([0, "updated"]);
  },
);

test("a command of a release that fails ends the update with a line that says why, and the next one goes on", async () => {
  box.publish({ version: "0.2.0", short: true });
  // Its system refuses files beyond 8 KiB: the token of the trial cannot be written.
  const limited = [`trap '' XFSZ; ulimit -f 16 && exec "$0" "$@"`];
  const { code, said } = await box.startUpdateBy(["sh", "-c", ...limited]);
  expect(code).toBe(2);
  expect(said.trimEnd().split("\n").at(-1)).toMatch(
    /^lintel: \S+ cannot be read or written: the disk reports an error: .* the next run of the updater goes on from here$/,
  );
  expect(await box.update()).toMatchObject({ result: "updated" });
});
