import { type Box, until } from "./box.ts";
import { install, versions } from "./packages.ts";
import { command } from "./readme.ts";
import { stickPath } from "./stick.ts";
import { expect, step, type Trial } from "./trial.ts";

const ready_s_max = 10;
/** Of `systemd-analyze security`, with serial ports and GPIO pins: 10 is a unit without any hardening. */
const gateway_exposure_max = 1.6;
const answer_ms_max = 30_000;

/** README, "A technician with a box": from an empty Debian to events in a page. */
export async function installGateway(trial: Trial): Promise<void> {
  const { box, central, stick } = trial;
  await step("README installs it without a network, and nothing starts", async () => {
    await install(box, versions[0]);
    const active = await box.must("systemctl list-units --plain --no-legend 'lintel*.service'");
    expect(active === "", "no unit that runs", active);
    return (await box.must("lintel --version")).trim();
  });
  await step("systemd finds no fault in the units", () =>
    box.must("systemd-analyze verify /usr/lib/systemd/system/lintel*", { as: "root" }),
  );
  await stick.plugIn();
  await step("lintel setup --file sets it up, and it is ready", async () => {
    const token = tokenIn(await central.must(command("homeToken")));
    await box.write("/root/lintel-home.toml", homeFile(token));
    const from_ms = performance.now();
    await box.must(setUp("setup"), { ms_max: 3 * ready_s_max * 1000 });
    const took_s = (performance.now() - from_ms) / 1000;
    const state = await box.property("lintel", "ActiveState");
    expect(state === "active", "a gateway that runs", state);
    return `ready after ${took_s.toFixed(1)} s`;
  });
  await step("with the same file again it changes nothing", async () => {
    const pid = await box.property("lintel", "MainPID");
    await box.must(setUp("setupHere"));
    expect((await box.property("lintel", "MainPID")) === pid, "the same process");
    return undefined;
  });
  await step(
    "with [update] in the file it looks for releases each night, and without it no more",
    async () => {
      const file = await box.must("cat /root/lintel-home.toml", { as: "root" });
      const again = async (text: string) => {
        await box.write("/root/lintel-home.toml", text);
        await box.must("lintel setup --file lintel-home.toml --replace", { as: "root" });
        const units = ["lintel-update.timer", "lintel-update-resume.timer"];
        const enabled = await Promise.all(units.map((unit) => box.property(unit, "UnitFileState")));
        return [...enabled, await box.property("lintel-update.timer", "ActiveState")].join(" ");
      };
      const updating = await again(`${file}\n[update]\nmanifest = "https://central.example/releases"\n`);
      expect(updating === "enabled enabled active", "an enabled timer that runs", updating);
      const next = await box.property("lintel-update.timer", "NextElapseUSecRealtime");
      const not = await again(file);
      expect(not === "disabled disabled inactive", "no timer", not);
      return `the next time ${next}`;
    },
  );
  await step("it hears the simulated stick", () => hears(trial));
  await step("its unit keeps from it what it does not need", async () => {
    const enter = "echo $$ >/sys/fs/cgroup/system.slice/lintel.service/cgroup.procs && head -c 1 kernel-log";
    const device = await box.run(`mknod -m 666 kernel-log c 1 11 && sh -c '${enter}'`, { as: "root" });
    expect(device.said.includes("Operation not permitted"), "no leave to open the kernel's log", device.said);
    const within = `nsenter --mount --target ${await box.property("lintel", "MainPID")}`;
    for (const path of ["/etc/it", "/opt/it", "/usr/it"]) {
      const { said } = await box.run(`${within} touch ${path}`, { as: "root" });
      expect(said.includes("Read-only file system"), `no leave to write ${path}`, said);
    }
    const home = await box.run(`${within} ls /home`, { as: "root" });
    expect(home.out === "" && home.code === 0, "no homes to be seen", `${home.out}${home.said}`);
    return exposure(box, "lintel", gateway_exposure_max);
  });
  await step("lintel-clock asks systemd whether the clock is set", async () => {
    expect((await box.property("lintel-clock", "SubState")) === "running", "a unit that goes on asking");
    // The bus starts it for whoever asks.
    await until("systemd-timedated has been asked", answer_ms_max, async () => {
      const started = await box.property("systemd-timedated", "ActiveEnterTimestampMonotonic");
      return started === "0" ? undefined : started;
    });
    return "it was asked, and nobody has set it";
  });
  await step("lintel doctor misses a token and the first upload, and nothing else", async () => {
    const { code, out } = await box.run(command("doctor"));
    const faults = out.split("\n").filter((line) => line.startsWith("✗"));
    const expected = ["there is no token", "uploads: none has ended well yet"];
    expect(
      code === 1 && faults.length === 2 && expected.every((text) => out.includes(text)),
      "two things to correct",
      out,
    );
    return "2 to correct";
  });
  await step("lintel pair lets a sensor in", async () => {
    const pair = box.run(command("pair"));
    await stick.pairSensor();
    await until("its item is there", answer_ms_max, async () => {
      trial.item = (await status(box)).store.items[0]?.record.itemname ?? "";
      return trial.item === "" ? undefined : true;
    });
    await box.must("pkill --signal INT --full 'main.* pair$'", { as: "root" });
    const { out } = await pair;
    expect(out.includes("1 joined, 0 failed"), "one that joined", out);
    return trial.item;
  });
  await step("lintel token create gives maria one", async () => {
    trial.token = tokenIn(await box.must(command("token")));
    return undefined;
  });
  await step("README's line fetches the certificate that lintel status shows", () => trust(box));
  await step("what the sensor says is served, by README's curl", () => walkAndSee(trial, 3));
  await step("lintel upload brings it to central", async () => {
    const said = (await box.must(command("upload"))).trim().split("\n").at(-1);
    await seenAtCentral(trial);
    return said;
  });
  await step("README's link opens the pages", async () => {
    const out = await box.must(command("pagesLink"));
    const [, origin = "", token = ""] = /(https:\/\/\S+)\/#token=(\S+)/.exec(out) ?? [];
    const form = `--header 'Sec-Fetch-Site: same-origin' --data-urlencode 'token=${token}' ${origin}/sign-in`;
    const answer = await box.must(
      `curl --silent --insecure --output /dev/null --write-out '%{http_code}' ${form}`,
    );
    expect(answer.trim() === "303", "a session at the first page", answer);
    return origin;
  });
  await step("lintel status shows it", async () => {
    const out = await box.must(command("status"));
    expect(out.includes(trial.item), `the item ${trial.item}`, out);
    return undefined;
  });
  await step("lintel report-fault names no item", async () => {
    const file = (await box.must(`cd /tmp && ${command("reportFault")}`)).trim();
    const report = await box.must(`cat ${file}`, { as: "root" });
    expect(report.includes("lintel.service") && !report.includes(trial.item), "units, and no item", report);
    return `${report.length} bytes`;
  });
  await step("lintel doctor is content", async () =>
    (await box.must(command("doctor"))).trim().split("\n").at(-1),
  );
}

/** The printed line without a terminal to ask at. */
function setUp(name: "setup" | "setupHere"): string {
  return command(name, { "lintel setup": "lintel setup --file /root/lintel-home.toml" });
}

/** A file for `lintel setup`, as docs/first-boot.md has it. */
function homeFile(token: string): string {
  return `[home]
id = 12
timezone = "Europe/London"

[zigbee]
port = "${stickPath}"
adapter = "zstack"

[upload]
url = "http://localhost:8090"

[setup]
upload_token = "${token}"
`;
}

/** The exposure of a unit that systemd finds, at most `max`. */
export async function exposure(box: Box, unit: string, max: number): Promise<string> {
  const all = await box.must(`systemd-analyze --no-pager security ${unit}`, { as: "root" });
  const last = all.trim().split("\n").at(-1) ?? "";
  const found = Number(/: (\d+\.\d)/.exec(last)?.[1] ?? Number.NaN);
  expect(found <= max, `an exposure of ${max} at most`, last);
  return `exposure ${found}`;
}

/** Waits until central serves what the gateway has. */
export async function seenAtCentral({ box, item, atCentral, events }: Trial): Promise<void> {
  await until(`central serves ${events} events`, answer_ms_max, async () => {
    const seen = await served({ box, item, token: atCentral }, 8090);
    expect(seen <= events, `${events} events at central and no more`, `${seen}`);
    return seen === events ? true : undefined;
  });
}

interface Status {
  readonly running: boolean;
  readonly version: string;
  readonly pid: number;
  readonly drivers: readonly { readonly name: string; readonly state: string; readonly detail?: string }[];
  readonly store: { readonly items: readonly { readonly record: { readonly itemname: string } }[] };
}

export async function status(box: Box): Promise<Status> {
  return JSON.parse(await box.must(`sudo -u lintel lintel status --json`));
}

/** Waits until the driver has opened the stick: what it says then. */
export async function hears({ box }: Trial): Promise<string> {
  return until("the stick is heard", answer_ms_max, async () => {
    const { drivers } = await status(box);
    const [zigbee] = drivers;
    return zigbee?.state === "listening" ? `${zigbee.name} ${zigbee.state}` : undefined;
  });
}

/** Somebody walks by some times; each must be in the page, and each that was there before. */
export async function walkAndSee(trial: Trial, times = 1): Promise<string> {
  for (let time = 0; time < times; time++) {
    expect(await trial.stick.walkBy(), "an open port at the stick");
    trial.events++;
  }
  return sees(trial);
}

export async function sees(trial: Trial): Promise<string> {
  await until(`${trial.events} events are served`, answer_ms_max, async () => {
    const seen = await served(trial);
    expect(seen <= trial.events, `${trial.events} events and no more`, `${seen}`);
    return seen === trial.events ? true : undefined;
  });
  return `${trial.events} events`;
}

/** The installer fetches the certificate that the gateway has now, and compares it: the beginning of its fingerprint. */
export async function trust(box: Box): Promise<string> {
  const [fingerprint = "none"] =
    /([0-9A-F]{2}:){31}[0-9A-F]{2}/.exec(await box.must(command("certificate"))) ?? [];
  const shown = await box.must(command("status"));
  expect(shown.includes(fingerprint), `the fingerprint ${fingerprint}`, shown);
  return `${fingerprint.slice(0, 11)}…`;
}

/** Events of the sensor in the page that README's curl asks for; 0 where there is none. */
export async function served(
  { box, item, token }: Pick<Trial, "box" | "item" | "token">,
  port = 8080,
): Promise<number> {
  const blanks = {
    "kitchen-wall": item,
    "limit=10": "limit=1000",
    "https://gateway.local:8080": `${port === 8080 ? "https" : "http"}://gateway.local:${port}`,
  };
  const line = command("ask", blanks);
  const { out } = await box.run(line, { env: { TOKEN: token } });
  const page: unknown = out.startsWith("[") ? JSON.parse(out) : [];
  return Array.isArray(page) ? page.length : 0;
}

/** The token that `lintel token create` shows. */
export function tokenIn(out: string): string {
  const [token] = /\b\w{12}\.[\w-]{43}/.exec(out) ?? [];
  if (token === undefined) throw new Error(`expected a token; seen:\n${out}`);
  return token;
}
