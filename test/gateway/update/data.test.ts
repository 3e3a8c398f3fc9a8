import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { nightly } from "../../../testbed/nightly.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";
import { faults, spoilsTheNewest, spoilsWhenThere } from "../../../testbed/updates/release-faults.ts";
import { UpdatingBox } from "../../../testbed/updates/updating-box.ts";
import { wentBackReport } from "../../../testbed/updates/went-back.ts";
import { inHome } from "../../../testbed/uploading.ts";
import { testAtNight } from "../../at-night.ts";

/** A deaf release is waited for so long. */
const trial_s = 10;
const hour_s = 3600;
let programme: Site;
let central: RunningServer;
let box: UpdatingBox;
let stick: SimulatorProcess;
let ieee: string;
let atCentral: string;
let home: string;
const configure = (for_s: number, watch_s?: number) =>
  box.configure(`${home}\n[zigbee]\nport = "${stick.path}"\nadapter = "zstack"`, for_s, watch_s);

beforeEach(async () => {
  programme = new Site();
  central = await programme.central("--data", programme.data);
  atCentral = await programme.token();
  box = new UpdatingBox();
  stick = await box.site.simulator("zigbee");
  home = await inHome(12, box.site, { site: programme, central });
  configure(trial_s);
  await box.boot();
  await box.site.listening();
  ({ ieee } = (await stick.tell({ do: "add", model: "3041" })) as { ieee: string });
  const pair = box.site.spawn(["pair", "--seconds", "60", "--json", "--data", box.site.data]);
  await pair.line();
  await stick.tell({ do: "join", ieee });
  await pair.line();
  pair.kill("SIGINT");
  await pair.exited;
});
afterEach(async () => {
  await box[Symbol.asyncDispose]();
  await central.stop();
  await programme.remove();
});

const item = () => `wirelesssensor-${ieee.replaceAll(":", "")}`;

/** The sensor says a number; it is on the disk of the box when this resolves. */
async function say(status: number): Promise<void> {
  const before = await count();
  expect(await stick.tell({ do: "notify", ieee, status })).toMatchObject({ heard: true });
  await eventually(async () => ((await count()) > before ? true : undefined), `event ${status}`);
}

/** How many readings the running gateway has on disk. */
async function count(): Promise<number> {
  const answer = await fetch("http://gateway/status", { unix: `${box.site.data}/control.sock` });
  const status = (await answer.json()) as { store: { items: { series: { count: number }[] }[] } };
  return status.store.items.flatMap(({ series }) => series).reduce((sum, one) => sum + one.count, 0);
}

async function eventsAtCentral(): Promise<number[]> {
  const events = await central.events(item(), atCentral);
  return events.map(({ event }) => event).sort((one, other) => one - other);
}

test("a release that changes the database and what was recorded goes back after hours, and central has every reading once, of those hours too", async () => {
  for (const status of [0x21, 0x22, 0x23]) await say(status);
  configure(trial_s, hour_s);
  const file = join(box.site.directory, "spoil");
  box.publish({ version: "0.2.0", fault: spoilsWhenThere(file) });
  expect(await box.update()).toMatchObject({ result: "watched" });
  await box.site.listening();
  await say(0x24);
  await box.site.answer("upload", "--config", box.site.config, "--json");
  await say(0x25);
  expect(await box.update()).toMatchObject({ result: "watched" });
  await box.cutPower();
  await box.boot();
  expect(box.running()).toContain("releases/current");
  writeFileSync(file, "");
  const { result, message } = await box.judged();
  expect(result).toBe("went_back");
  // A busy machine may start it once more before anybody looks.
  expect(message).toMatch(/it had to be started again \d+ times, and 3 times are the most/);
  expect(message).toContain("the data were put back, with 2 readings that came since");
  await box.serving();
  await box.site.listening();
  await say(0x26);
  await box.site.answer("upload", "--config", box.site.config, "--json");
  expect(await eventsAtCentral()).toEqual([0x21, 0x22, 0x23, 0x24, 0x25, 0x26]);
  expect(await box.site.answer("verify", "--config", box.site.config, "--json")).toMatchObject({
    differing_days: 0,
  });
  // Nothing is left behind.
  expect(readdirSync(box.site.data).filter((name) => /set-aside|restoring|placing/.test(name))).toEqual([]);
  expect(existsSync(`${box.releases}/copy`)).toBe(false);
  // Central knows it too.
  const [home] = await programme.answer("fleet", "--all", "--json", "--data", programme.data);
  expect(home.update).toMatchObject({ ring: 50, confirmed: "0.1.0" });
  expect(home.update.refusals).toMatchObject([{ version: "0.2.0", reason: "went_back" }]);
});

testAtNight("a release whose upload sends nothing and says that all is well goes back", async () => {
  await say(0x21);
  await box.site.answer("upload", "--config", box.site.config, "--json");
  box.publish({ version: "0.2.0", fault: faults["has an upload that does nothing"], short: true });
  box.beforeStop = async () => {
    box.beforeStop = async () => {};
    await say(0x22);
  };
  const { result, message } = await box.update();
  expect(result).toBe("went_back");
  expect(message).toContain("central holds its readings up to 1 of 2");
});

testAtNight(
  "a deaf release goes back, and what was heard meanwhile stays where the database kept its form",
  async () => {
    await say(0x21);
    box.publish({ version: "0.2.0", fault: faults.deaf });
    const { result, message } = await box.update();
    expect(result).toBe("went_back");
    expect(message).toContain("the driver zigbee does not hear its device");
    expect(message).not.toContain("put back");
    await box.serving();
    await box.site.listening();
    await say(0x22);
  },
);

for (const form of ["another form", "the same form"] as const)
  testAtNight(
    `a reading that comes between the copy and the switch stays as it was recorded, where a release spoils it and leaves the database ${form}`,
    async () => {
      await say(0x21);
      box.publish({ version: "0.2.0", fault: spoilsTheNewest(form) });
      let number = 0x22;
      box.beforeStop = async () => {
        box.beforeStop = async () => {};
        await say(number++);
      };
      const { result, message } = await box.update();
      expect(result).toBe("went_back");
      expect(message).toContain("the data were put back, with 1 reading that came since");
      await box.serving();
      await box.site.listening();
      await say(number);
      await box.site.answer("upload", "--config", box.site.config, "--json");
      expect(await eventsAtCentral()).toEqual([0x21, 0x22, 0x23]);
    },
  );

test("a release that three boxes went back from is tried by no fourth, which says why, and the next release is", async () => {
  const file = box.publish({ version: "0.2.0", short: true });
  const sha256 = new Bun.CryptoHasher("sha256").update(await Bun.file(file).bytes()).digest("hex");
  for (const other of [1, 2, 3]) {
    const token = await programme.token("--scope", "sync", "--home", String(other));
    const answer = await fetch(`${central.origin}/sync/v1/report`, {
      method: "POST",
      headers: { authorization: `bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(wentBackReport(other, { version: "0.2.0", sha256 })),
    });
    const { stopped } = (await answer.json()) as { stopped?: unknown };
    expect(stopped).toEqual(other < 3 ? undefined : [{ version: "0.2.0", sha256, boxes: 3 }]);
  }
  expect(await box.update()).toEqual({
    result: "waiting",
    message: "0.2.0 waits: central has stopped it, because 3 boxes went back from it",
  });
  expect(box.link("current")).toBeUndefined();
  const { out } = await programme.lintel("fleet", "--data", programme.data);
  expect(out).toContain(
    "0.2.0 is stopped, and no further box tries it: homes 1, 2, 3 went back from it (it is deaf)",
  );
  if (!nightly) return;
  box.publish({ version: "0.3.0", short: true });
  expect(await box.update()).toMatchObject({ result: "updated" });
});

testAtNight("an erasure reaches the copy that is kept while a release is watched", async () => {
  await say(0x21);
  configure(trial_s, hour_s);
  box.publish({ version: "0.2.0", short: true });
  expect(await box.update()).toMatchObject({ result: "watched" });
  const copy = join(box.releases, "copy");
  const before = readdirSync(copy);
  await box.site.answer("erase", "--home", "12", "--yes", "--json", "--data", box.site.data);
  expect(await box.update()).toMatchObject({ result: "watched" });
  expect(readdirSync(copy)).not.toEqual(before);
  const [list] = await box.site.answer("erase", "--list", "--json", "--data", box.site.data);
  const [made = ""] = readdirSync(copy).filter((name) => name.startsWith("backup-"));
  const inCopy = await box.site.answer("erase", "--list", "--json", "--data", join(copy, made));
  expect(inCopy).toMatchObject([{ id: list.id }]);
  const kept = readdirSync(copy);
  expect(await box.update()).toMatchObject({ result: "watched" });
  expect(readdirSync(copy)).toEqual(kept);
});
