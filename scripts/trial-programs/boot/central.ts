import { type Box, until } from "./box.ts";
import { exposure, hears, seenAtCentral, sees, tokenIn, trust, walkAndSee } from "./gateway.ts";
import { install, versions } from "./packages.ts";
import { command } from "./readme.ts";
import { installer } from "./root.ts";
import { expect, step, type Trial } from "./trial.ts";

const answer_ms_max = 60_000;
const central_exposure_max = 1.2;
const stamp = "/var/lib/systemd/timers/stamp-lintel-upload.timer";

/** README, "A field engineer or central operator", and docs/central.md: a central server in a box of its own. */
export async function installCentral(trial: Trial): Promise<void> {
  const { central } = trial;
  await step("README installs a central server in another Debian", async () => {
    await install(central, versions[0], "installCentral");
    trial.atCentral = tokenIn(
      await central.must("sudo -u lintel-central lintel token create trial --data /var/lib/lintel-central"),
    );
    return `${await central.property("lintel-central", "StatusText")}, ${await exposure(central, "lintel-central", central_exposure_max)}`;
  });
}

/** README, "A technician with a box": nightly uploads. */
export async function tryCentral(trial: Trial): Promise<void> {
  const { box } = trial;
  await step("lintel-upload.timer waits for the night", async () => {
    await box.must(command("uploadEnable"));
    const next = await box.property("lintel-upload.timer", "NextElapseUSecRealtime");
    expect(/ 02:\d\d:\d\d /.test(next), "a time from 02:00 to 03:00", next);
    return next;
  });
  await step("a night that was missed is made up for within the hour after the next start", async () => {
    await walkAndSee(trial);
    await trial.stick.unplug();
    await box.must(`touch --date '3 days ago' ${stamp}`, { as: "root" });
    await box.cutPower();
    await box.boot();
    await trial.stick.plugIn();
    const next = await box.must(
      'date --date "$(systemctl show lintel-upload.timer --property NextElapseUSecRealtime --value)" +%s',
    );
    const wait_s = Number(next) - Date.now() / 1000;
    expect(wait_s < 3700, "the next run within the hour", `${wait_s} s`);
    return `in ${(wait_s / 60).toFixed(0)} minutes`;
  });
  await step("and is uploaded then (here without the delay that is drawn for each box)", async () => {
    await box.write(
      "/etc/systemd/system/lintel-upload.timer.d/at-once.conf",
      "[Timer]\nRandomizedDelaySec=0\n",
    );
    await box.must("systemctl daemon-reload && systemctl restart lintel-upload.timer", { as: "root" });
    const end = await until("the timer has started a run that ended", answer_ms_max, async () => {
      const ended = await box.property("lintel-upload.service", "ExecMainExitTimestamp");
      return ended === "" ? undefined : ended;
    });
    expect((await box.property("lintel-upload.service", "Result")) === "success", "a run that went well");
    await seenAtCentral(trial);
    return end;
  });
  await tryLostBox(trial);
}

/** README, "A technician with a box", and docs/restore.md. */
async function tryLostBox(trial: Trial): Promise<void> {
  const { box } = trial;
  let atBackup = 0;
  await hears(trial);
  await step("lintel backup beside the running gateway", async () => {
    await box.must("install -d -o lintel -m 700 /media/stick", { as: "root" });
    const said = (await box.must(command("backup"))).trim().split("\n").at(-1);
    atBackup = trial.events;
    await walkAndSee(trial, 2);
    await box.must(command("upload"));
    return said;
  });
  await step("a spare box gets its readings from central, and hears the sensor without pairing", async () => {
    await lose(box);
    const said = (await box.must(command("restoreFromCentral"))).trim().split("\n").at(-1);
    await box.must(command("startBox"));
    trial.token = tokenIn(await box.must(command("token")));
    await hears(trial);
    await trust(box);
    await sees(trial);
    await walkAndSee(trial);
    await box.must(command("upload"));
    await seenAtCentral(trial);
    return said;
  });
  await step("a spare box gets its readings from a backup, and central has every one once", async () => {
    const all = trial.events;
    await lose(box);
    const said = (await box.must(command("restoreBackup"))).trim().split("\n").at(-1);
    await box.must(command("startBox"));
    trial.token = tokenIn(await box.must(command("token", { "create maria": "create maria-2" })));
    await hears(trial);
    await trust(box);
    trial.events = atBackup;
    await sees(trial);
    await walkAndSee(trial);
    await box.must(command("upload"));
    await seenAtCentral({ ...trial, events: all + 1 });
    return said;
  });
}

/** The card is gone: what central has, and what is on the stick, is all there is. */
async function lose(box: Box): Promise<void> {
  await box.must(command("stopBox"));
  await box.must("find /var/lib/lintel -mindepth 1 -delete", { as: "root" });
}

/** README, "A researcher on the home network", and a central server by hand. */
export async function tryByHand(trial: Trial): Promise<void> {
  const { box, central } = trial;
  const cwd = `/home/${installer.name}`;
  await step("lintel fetch downloads everything", async () => {
    await box.must("umask 077 && cat >token", { cwd, input: trial.token });
    await box.must(command("fetch"), { cwd });
    return (await box.must("find . -name '*.parquet' -newer token | wc -l", { cwd })).trim();
  });
  await central.must("systemctl stop lintel-central", { as: "root" });
  await step("lintel central on SQLite, by hand", async () => {
    await central.must(`install -d -o ${installer.name} /srv/lintel`, { as: "root" });
    return whileRunning(central, { line: command("centralByHand"), cwd, ports: [8090] }, async () => {
      tokenIn(await central.must(command("centralToken"), { cwd }));
      return undefined;
    });
  });
  await step("lintel central on PostgreSQL, by hand", async () => {
    await central.must("systemctl start postgresql@*-main.service postgresql", { as: "root" });
    await central.must(command("postgresDatabase"), { input: "word\nword\n" });
    return whileRunning(
      central,
      { line: command("centralOnPostgres"), cwd, ports: [8090] },
      async () => undefined,
    );
  });
  await central.must(command("enableCentral"));
}

/** Does something while a server runs as in a terminal, which Ctrl-C ends. */
async function whileRunning(
  box: Box,
  server: { line: string; cwd: string; ports: readonly number[] },
  attempt: () => Promise<string | undefined>,
): Promise<string | undefined> {
  const child = box.run(server.line, { cwd: server.cwd });
  for (const port of server.ports) {
    await until(`port ${port} answers`, answer_ms_max, async () => {
      const { out } = await box.run(
        `curl --silent --output /dev/null --write-out '%{http_code}' localhost:${port}/v0.9/items`,
      );
      return out === "401" ? true : undefined;
    });
  }
  const seen = await attempt();
  await box.must(`pkill --signal INT --full '^/.*main.[jt]s ${server.line.split(" ")[1]}'`, { as: "root" });
  const { code, out, said } = await child;
  expect(code === 0 || code === 130, "that Ctrl-C ends it", `${code}: ${out}${said}`);
  return seen;
}
