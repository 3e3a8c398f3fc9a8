import type { Box } from "./box.ts";
import { heardAgain } from "./faults.ts";
import { status } from "./gateway.ts";
import { install, packagesPath, type Version, versions } from "./packages.ts";
import { command } from "./readme.ts";
import { expect, step, type Trial } from "./trial.ts";

const [first, second] = versions;
const releases = "/var/lib/lintel-releases";

/** docs/install.md: a newer package, back again, and a power cut in between. */
export async function tryUpgrade(trial: Trial): Promise<void> {
  const { box, stick } = trial;
  await step("an upgrade keeps the configuration, and restarts the gateway", async () => {
    await box.must("install -d -o lintel -m 700 /media/stick", { as: "root" });
    await box.must(command("backupBefore"));
    const before = await box.must("cat /etc/lintel/lintel.toml", { as: "root" });
    await install(box, second, "upgrade");
    await runs(trial, second);
    const after = await box.must("cat /etc/lintel/lintel.toml", { as: "root" });
    expect(after === before, "the configuration as it was", after);
    return heardAgain(trial);
  });
  await step("back again to the older version, with the backup", async () => {
    await install(box, first, "goBack");
    await runs(trial, first);
    const { events } = trial;
    await box.must(command("stopBefore"));
    await box.must(command("restoreBefore"));
    await box.must(command("startAfter"));
    await runs(trial, first);
    // What came after the backup is at central alone.
    trial.events = events - 1;
    return heardAgain(trial);
  });
  await step(
    "without power between unpacking and its end, the box comes back, and one line completes it",
    async () => {
      await box.must(`dpkg --unpack ${packagesPath}/${second}/*.deb && sync`, { as: "root" });
      await stick.unplug();
      await box.cutPower();
      await box.boot();
      await stick.plugIn();
      await runs(trial, second);
      await box.must(command("finish"));
      await runs(trial, second);
      return heardAgain(trial);
    },
  );
  await step(
    "a release that the box was switched to goes on where it is newer than a package, and no longer where it is older",
    async () => {
      await switchTo(trial, "0.2.0");
      await install(box, first, "goBack");
      expect(
        (await programOf(box)).startsWith(`${releases}/0.2.0/`),
        "the newer release",
        await programOf(box),
      );
      await switchTo(trial, "0.1.5");
      await install(box, second, "installHere");
      expect(
        (await programOf(box)).startsWith("/usr/lib/lintel/"),
        "the package's program",
        await programOf(box),
      );
      return heardAgain(trial);
    },
  );
}

/** docs/install.md, "Remove Lintel". */
export async function tryRemoval(trial: Trial): Promise<void> {
  const { box, stick } = trial;
  await step("removal leaves data, configuration and users", async () => {
    await box.must(command("remove"), { input: "y\n" });
    await box.must("test ! -e /usr/lib/lintel && test ! -e /usr/bin/lintel");
    await box.must("test -s /etc/lintel/lintel.toml && ls /var/lib/lintel/*.db && id lintel", { as: "root" });
    const running = await box.run("pgrep --full /usr/lib/lintel", { as: "root" });
    expect(running.code === 1, "no process of it", running.out);
    return undefined;
  });
  await step("after another install and a start of the machine all goes on", async () => {
    await install(box, second, "installHere");
    await box.must(command("enableByHand"));
    await stick.unplug();
    await box.shutDown();
    await box.boot();
    await stick.plugIn();
    await runs(trial, second);
    return heardAgain(trial);
  });
  await step("a purge leaves nothing but users and the journal", async () => {
    await box.must(command("purge"), { input: "y\n" });
    const places = "/etc /usr /opt /var/lib /var/cache /run";
    const left = await box.must(
      `find ${places} -xdev -iname '*lintel*' ! -path '/var/lib/dpkg/*' ! -path '/run/systemd/*' ! -path '/run/udev/*' ! -path '/run/credentials/*'`,
      { as: "root" },
    );
    expect(left === "", "nothing with its name", left);
    await box.must("id lintel");
    return undefined;
  });
}

async function switchTo({ box }: Trial, version: string): Promise<void> {
  const folder = `${releases}/${version}`;
  const edit = `sed -i 's/"version": ".*"/"version": "${version}"/' ${folder}/release.json`;
  await box.must(
    `mkdir -p ${releases} && rm -rf ${folder} && cp -r /usr/lib/lintel ${folder} && ${edit} && ln -sfn ${folder} ${releases}/current`,
    { as: "root" },
  );
  await box.must("systemctl restart lintel", { as: "root" });
  const program = await programOf(box);
  expect(program.startsWith(folder), `the release ${version}`, program);
}

/** The file of the gateway's main process. */
async function programOf(box: Box): Promise<string> {
  return (
    await box.must(`readlink /proc/${await box.property("lintel", "MainPID")}/exe`, { as: "root" })
  ).trim();
}

async function runs({ box }: Trial, version: Version): Promise<void> {
  const seen = await status(box);
  expect(seen.running && seen.version.startsWith(version), `version ${version}`, seen.version);
}
