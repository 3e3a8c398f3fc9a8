import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { deviceAddresses } from "../../../testbed/ble-devices.ts";
import { eventually, LintelProcess } from "../../../testbed/front-door.ts";
import { SimulatorProcess } from "../../../testbed/simulator-process.ts";

/** The trial inside the machine, as root: its lines go to the console, the last of them is `passed`. */
const data = "/var/lib/lintel";
const api = "https://127.0.0.1:8080/v0.9";
const rights = "/etc/systemd/system/lintel.service.d/lintel-setup.conf";

const step = (text: string) => console.log(`step: ${text}`);
const seen = (text: string) => console.log(`seen: ${text}`);
const never = (text: string): never => {
  throw new Error(text);
};

/** A command's output and exit code. */
function result(...words: string[]): { code: number; out: string } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(words, { stdin: "ignore", timeout: command_max_ms });
  return { code: exitCode ?? -1, out: `${stdout}${stderr}`.trim() };
}

/** The output of a command that ends well. */
function run(...words: string[]): string {
  const { code, out } = result(...words);
  return code === 0 ? out : never(`${words.join(" ")} ended with ${code}: ${out}`);
}

/** Everything here takes long: the machine is emulated. */
const command_max_ms = 300_000;
const patience = { tries_max: 600, pause_ms: 500 };
const until = (what: string, holds: () => Promise<boolean> | boolean) =>
  eventually(async () => ((await holds()) ? true : undefined), what, patience);

/** Starts `lintel` as the gateway's user, in the same process, so that a signal reaches it. */
const asLintel = ["setpriv", "--reuid=lintel", "--regid=lintel", "--init-groups", "lintel"];
const lintel = (...words: string[]) => run(...asLintel, ...words, "--data", data);

interface DriverState {
  readonly state: string;
  readonly detail: string;
  readonly problem?: string;
}

/** The Bluetooth driver, as the socket of `lintel status` tells it; undefined while no gateway runs. */
async function driver(): Promise<DriverState | undefined> {
  const answer = await fetch("http://gateway/status", { unix: `${data}/control.sock` }).catch(
    () => undefined,
  );
  const { drivers } = ((await answer?.json()) ?? { drivers: [] }) as {
    drivers: (DriverState & { name: string })[];
  };
  return drivers.find(({ name }) => name === "ble");
}

const listening = () => until("the driver listens", async () => (await driver())?.state === "listening");

async function problem(pattern: RegExp): Promise<void> {
  let last = "";
  await until(`the problem ${pattern}`, async () => {
    last = (await driver())?.problem ?? "";
    return pattern.test(last);
  });
  seen(last);
}

/** Whether bluetoothd has the adapter, and has it on. */
const isPowered = () => /Powered: yes/.test(result("bluetoothctl", "show").out);

const transport = existsSync("/dev/vhci") ? "vhci" : "hciuart";
const air = await SimulatorProcess.start("air", "--transport", transport, "--watch", "bonded");
const port = air.path;
async function tell(command: { readonly do: string } & Readonly<Record<string, unknown>>) {
  const answer = await air.tell(command);
  return answer["error"] === undefined ? answer : never(answer["error"]);
}
const pid = () => run("systemctl", "show", "--property=MainPID", "--value", "lintel");

step("bluetoothd has the adapter, and has it on");
// The kernel waits 2 s for an answer of a new adapter, which a simulator that has just started on a busy machine may not give.
await until("bluetoothd has it on", async () => {
  for (let looks = 0; looks < 20; looks += 1) if (isPowered()) return true;
  await tell({ do: "unplug" });
  await tell({ do: "replug" });
  return false;
});

step("lintel setup finds the adapter, and gives the service its right");
writeFileSync("/root/home.toml", '[home]\nid = 12\ntimezone = "Europe/Berlin"\n[ble]\n');
run("lintel", "setup", "--file", "/root/home.toml");
if (!readFileSync("/etc/lintel/lintel.toml", "utf8").includes(`port = "${port}"`))
  never("setup took another port");
await listening();
seen((await driver())?.detail ?? "");
const capabilities = /^CapEff:\s*(\S+)$/m.exec(readFileSync(`/proc/${pid()}/status`, "utf8"))?.[1];
// Bit 12 is CAP_NET_ADMIN.
if (Number(`0x${capabilities}`) !== 1 << 12) never(`the gateway has the capabilities ${capabilities}`);
seen(`capabilities ${capabilities}`);
if (isPowered()) never("bluetoothd has the adapter still");

step("a pill box, a scale and a bonded watch are heard");
const token = JSON.parse(lintel("token", "create", "trial", "--json")).token;
for (const address of [deviceAddresses.box, deviceAddresses.scale]) lintel("items", "admit", address);
await tell({ do: "block", ts: Math.floor(Date.now() / 600_000) * 600_000, steps: 321 });
const pairing = new LintelProcess(
  Bun.spawn([...asLintel, "pair", "--seconds", "250", "--json", "--data", data], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  }),
);
for (let line = await pairing.line(); ; line = await pairing.line()) {
  if (line === undefined) never(`lintel pair ended: ${await pairing.said()}`);
  if (JSON.parse(line ?? "").state === "bonded") break;
}
pairing.kill("SIGINT");
await pairing.exited;

async function records(path: string): Promise<Readonly<Record<string, unknown>>[]> {
  const tls = { ca: readFileSync(`${data}/tls-certificate.pem`, "utf8") };
  const headers = { authorization: `bearer ${token}`, accept: "application/json" };
  const answer = await fetch(`${api}${path}`, { headers, tls }).catch(() => undefined);
  return answer?.ok ? ((await answer.json()) as Readonly<Record<string, unknown>>[]) : [];
}

/** Records of the only item of a kind, newest first. */
async function recordsOf(kind: string, series: string) {
  const [item] = await records(`/inventory/${kind}`);
  return item === undefined ? [] : records(`/items/${kind}/${item["itemname"]}/${series}`);
}

let [turns, weight_g] = [0, 70_000];

/** Turns a door of the box and steps on the scale, and waits until both are served. */
async function heard(): Promise<void> {
  await listening();
  turns += 1;
  weight_g += 100;
  await until("the controller scans", async () => (await tell({ do: "look" }))["scanning"] === true);
  await tell({ do: "turn", door: turns % 7 });
  await tell({ do: "weigh", weight_g });
  await until(
    `turn ${turns} of the pill box`,
    async () => (await recordsOf("pillboxes", "events")).length >= turns,
  );
  await until(
    `${weight_g} g on the scale`,
    async () => (await recordsOf("scales", "weights"))[0]?.["weight"] === weight_g,
  );
}
await heard();
await until(
  "the block of the watch",
  async () => (await recordsOf("watches", "epochs"))[0]?.["steps"] === 321,
);
if ((await tell({ do: "look" }))["watchPairings"] !== 1) never("the watch was not paired once");
if (
  !lintel("doctor").includes(`on ${port}`) &&
  !result("lintel", "doctor", "--data", data).out.includes("[ble] listening")
)
  never("lintel doctor says nothing of the adapter");

step("bluetoothd cannot take the adapter away: power off, rfkill, a restart of bluetoothd");
seen(result("bluetoothctl", "power", "off").out);
seen(`rfkill block: ${result("rfkill", "block", "bluetooth").out || "said nothing"}`);
run("rfkill", "unblock", "bluetooth");
run("systemctl", "restart", "bluetooth");
await heard();

step("unplugged and plugged in again, twice");
for (const _ of ["once", "twice"]) {
  await tell({ do: "unplug" });
  await problem(/it is gone: plug it in|it is not there: plug it in/);
  await tell({ do: "replug" });
  await heard();
}

step("stopped, it gives the adapter back; powered off and on by bluetoothd, it is taken again");
for (const power of ["off", "on"]) {
  run("systemctl", "stop", "lintel");
  await until("bluetoothd has it on", isPowered);
  run("bluetoothctl", "power", power);
  run("systemctl", "start", "lintel");
  await heard();
}

step("kill -9");
const before = pid();
run("systemctl", "kill", "--signal=KILL", "lintel");
await until("another process", () => !["0", before].includes(pid()));
await heard();

step("rfkill keeps it off, until it does not");
run("systemctl", "stop", "lintel");
run("rfkill", "block", "bluetooth");
run("systemctl", "start", "lintel");
await problem(/rfkill keeps it off: `sudo rfkill unblock bluetooth`/);
seen(
  result("lintel", "doctor", "--config", "/etc/lintel/lintel.toml")
    .out.split("\n")
    .find((line) => line.includes("rfkill")) ?? never("doctor is silent"),
);
run("rfkill", "unblock", "bluetooth");
await heard();

step("each line of its rights is needed");
const all = readFileSync(rights, "utf8");
const withoutRight = {
  AmbientCapabilities: /lacks the right to use it/,
  PrivateUsers: /lacks the right to use it/,
  RestrictAddressFamilies: /this service may not use Bluetooth/,
};
for (const [name, says] of Object.entries(withoutRight)) {
  writeFileSync(rights, all.replace(new RegExp(`^${name}=.*\n`, "m"), ""));
  run("systemctl", "daemon-reload");
  run("systemctl", "restart", "lintel");
  seen(`without ${name}:`);
  await problem(says);
}
run("lintel", "setup", "--file", "/root/home.toml");
if (readFileSync(rights, "utf8") !== all) never("setup did not write the rights again");
await heard();

step("at its end bluetoothd has the adapter again, and nobody scans");
run("systemctl", "stop", "lintel");
await until("bluetoothd has it on", isPowered);
if ((await tell({ do: "look" }))["scanning"] !== false) never("the controller scans still");
rmSync("/root/home.toml");
console.log("passed");
// What it started may hold it, and the machine is switched off when it ends.
process.exit(0);
