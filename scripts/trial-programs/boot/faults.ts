import { type Box, until } from "./box.ts";
import { hears, sees, served, walkAndSee } from "./gateway.ts";
import { command } from "./readme.ts";
import { expect, step, type Trial } from "./trial.ts";

const restart_ms_max = 180_000;
const answer_ms_max = 60_000;
/** Events that come while the disk is full. */
const waiting_events = 20;
const data = "/var/lib/lintel";

/** Tries a gateway that hangs, is killed, or has no power, no network or no writable disk. */
export async function tryFaults(trial: Trial): Promise<void> {
  const { box } = trial;
  await step("memory", () => memory(box));
  await step("stopped in its tracks, it is started again by systemd's watchdog", async () => {
    const seen = await restartedAfter(box, "STOP");
    const log = await box.journal("lintel");
    expect(
      log.includes("Watchdog timeout") && !log.includes("Bun has crashed"),
      "systemd's watchdog in the log",
      log,
    );
    return `${seen}, ${await heardAgain(trial)}`;
  });
  await step("killed, it is started again", async () => {
    const seen = await restartedAfter(box, "KILL");
    return `${seen}, ${await heardAgain(trial)}`;
  });
  await step("switched off and on, it serves without a network, and hears the stick that comes later", () =>
    startedAgain(trial, () => box.shutDown()),
  );
  await step("without power for a moment, it has kept what it had taken", () =>
    startedAgain(trial, () => box.cutPower()),
  );
  await step("with /usr and /opt read-only it starts, hears and uploads", async () => {
    for (const path of ["/usr", "/opt"])
      await box.must(`mount --bind ${path} ${path} && mount -o remount,bind,ro ${path}`, { as: "root" });
    await box.must("systemctl restart lintel", { as: "root" });
    const seen = await heardAgain(trial);
    await box.must(command("upload"));
    for (const path of ["/usr", "/opt"]) await box.must(`mount -o remount,bind,rw ${path}`, { as: "root" });
    return seen;
  });
  await tryFullDisk(trial);
}

/** A small disk in the place of the data directory: full while sensors report, and at a start. */
async function tryFullDisk(trial: Trial): Promise<void> {
  const { box, stick } = trial;
  const fill = `cat /dev/zero >${data}/filler`;
  await step("a full disk is said in the log, and nothing is lost once there is room", async () => {
    await box.must("systemctl stop lintel", { as: "root" });
    await box.must(
      `cp -a ${data} /root/data && mount -t tmpfs -o size=24m tmpfs ${data} && cp -a /root/data/. ${data}`,
      {
        as: "root",
      },
    );
    await box.must(`chown lintel: ${data} && chmod 700 ${data} && systemctl start lintel`, { as: "root" });
    await hears(trial);
    await walkAndSee(trial);
    await box.run(fill, { as: "root" });
    const before = await served(trial);
    const said = await until("the log says so", answer_ms_max, async () => {
      expect(await stick.walkBy(), "an open port at the stick");
      trial.events++;
      return fullLine(await box.journal("lintel"));
    });
    for (let event = 0; event < waiting_events; event++) {
      expect(await stick.walkBy(), "an open port at the stick");
      trial.events++;
    }
    expect((await served(trial)) >= before, "that what is there is still served");
    await box.must(`rm ${data}/filler`, { as: "root" });
    await sees(trial);
    return said;
  });
  await step("a disk that is full at the start is waited for", async () => {
    await box.must("systemctl stop lintel", { as: "root" });
    await box.run(fill, { as: "root" });
    await box.run("systemctl start lintel", { as: "root" });
    const said = await until("the log says so", answer_ms_max, async () =>
      fullLine(await box.journal("lintel", "-20s")),
    );
    await box.must(`rm ${data}/filler`, { as: "root" });
    await until("the gateway is back", restart_ms_max, () => serving(box));
    await heardAgain(trial);
    await box.must(`systemctl stop lintel && cp -a ${data}/. /root/data && umount ${data}`, { as: "root" });
    await box.must(`cp -a /root/data/. ${data} && rm -r /root/data && systemctl start lintel`, {
      as: "root",
    });
    await heardAgain(trial);
    return said;
  });
}

function fullLine(log: string): string | undefined {
  return log.split("\n").findLast((line) => /disk (is )?full|no space|no room/i.test(line));
}

async function memory(box: Box): Promise<string> {
  const [pid, high] = [
    await box.property("lintel", "MainPID"),
    Number(await box.property("lintel", "MemoryHigh")),
  ];
  const rollup = await box.must(`cat /proc/${pid}/smaps_rollup`, { as: "root" });
  const mb = Number(/^Pss:\s+(\d+)/m.exec(rollup)?.[1]) / 1024;
  const high_mb = high / 1024 ** 2;
  expect(mb < high_mb, `less than MemoryHigh, ${high_mb} MB`, `${mb} MB`);
  const held = await box.property("lintel", "MemoryCurrent");
  const counted = /^\d+$/.test(held)
    ? `${mbText(Number(held))} by its control group`
    : "no memory controller here";
  return `${mb.toFixed(0)} MB of ${high_mb} (${counted})`;
}

function mbText(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(0)} MB`;
}

/** Sends the main process a signal that ends its work, and waits for the next one to be ready. */
async function restartedAfter(box: Box, signal: string): Promise<string> {
  const before = await box.property("lintel", "MainPID");
  const from_ms = performance.now();
  await box.must(`kill -${signal} ${before}`, { as: "root" });
  await until("systemd has started it again", restart_ms_max, async () => {
    const pid = await box.property("lintel", "MainPID");
    return pid !== "0" && pid !== before ? await serving(box) : undefined;
  });
  return `ready after ${((performance.now() - from_ms) / 1000).toFixed(0)} s`;
}

async function serving(box: Box): Promise<true | undefined> {
  return (await box.property("lintel", "ActiveState")) === "active" ? true : undefined;
}

/** The stick is heard, what was there is served, and what comes now is too. */
export async function heardAgain(trial: Trial): Promise<string> {
  await hears(trial);
  await sees(trial);
  return walkAndSee(trial);
}

async function startedAgain(trial: Trial, off: () => Promise<void>): Promise<string> {
  const { box, stick } = trial;
  await stick.unplug();
  await off();
  await box.boot();
  await until("the gateway serves", answer_ms_max, () => serving(box));
  await sees(trial);
  await stick.plugIn();
  return heardAgain(trial);
}
