import { OperatorError } from "../../base/errors.ts";
import type { Kind } from "../../domain/kinds.ts";
import { type ChannelNoise, namesByAddress } from "../../domain/mesh.ts";
import { meshWords } from "../../domain/mesh-words.ts";
import { itemStatus } from "../../domain/records/item.ts";
import { ControlClient } from "../../gateway/control-client.ts";
import type { GatewayStatus } from "../../gateway/gateway-status.ts";
import { cadenceOf } from "../../store/series/coverage-intervals.ts";
import type { ItemOverview } from "../../store/store.ts";
import { readingsOf } from "../items.ts";
import { momentText } from "../terminal-text.ts";
import { type Bench, type BurnInFinding, until } from "./bench.ts";

/** A stick is out, or back, within this time; zigbee-herdsman needs up to a minute for a start. */
const replug_max_ms = 5 * 60_000;
/** How often each sensor is to speak. */
const speaks = 10;
/** Sensors that a finding names. */
const named_max = 5;

/** Whether each stick hears again after it was pulled out and plugged in. */
export async function checkSticks(bench: Bench): Promise<BurnInFinding> {
  const { terminal } = bench;
  const replugged: string[] = [];
  for (const { name, state, problem } of (await running(bench)).drivers) {
    if (!hasPort(bench, name)) continue;
    if (state !== "listening")
      return { outcome: "failed", found: `[${name}] does not listen: ${problem ?? state}.` };
    terminal.print(terminal.colours.bold(`Pull out the stick of [${name}] now.`));
    if (!(await until(bench, replug_max_ms, async () => (await driver(bench, name))?.state !== "listening")))
      throw new OperatorError(`nobody pulled out the stick of [${name}]`, "run lintel burn-in again");
    terminal.print(terminal.colours.bold("Plug it in again."));
    if (
      !(await until(bench, replug_max_ms, async () => (await driver(bench, name))?.state === "listening"))
    ) {
      const why = (await driver(bench, name))?.problem ?? "it gives no reason";
      return {
        outcome: "failed",
        found: `[${name}] did not listen again after its stick was plugged in: ${why}.`,
      };
    }
    replugged.push(`[${name}]`);
  }
  if (replugged.length === 0) return { outcome: "skipped", found: "no driver of this box has a stick." };
  return {
    outcome: "passed",
    found: `After its stick was plugged in again, ${replugged.join(" and ")} listened.`,
  };
}

/** Whether each sensor is heard ten times; those that a driver reads later by itself are left out. */
export async function checkSensors(bench: Bench): Promise<BurnInFinding> {
  const { drivers } = await running(bench);
  const before = new Map((await sensors(bench)).map((one) => [one.record.itemid, readingsOf(one)]));
  if (before.size === 0)
    return { outcome: "skipped", found: "no sensor has joined this box that speaks by itself." };
  const heard = async () =>
    (await sensors(bench)).map((item) => {
      const { record, listener } = item;
      return { name: record.itemname, listener, times: readingsOf(item) - (before.get(record.itemid) ?? 0) };
    });
  let isDone = false;
  const showing = until(bench, Number.POSITIVE_INFINITY, async () => {
    const waiting = (await heard()).filter(({ times }) => times < speaks);
    bench.terminal.progress(waiting.map(({ name, times }) => `${name} ${times}`).join(", "));
    return isDone;
  });
  const asked = bench.asker.ask("Press Enter when each sensor has spoken ten times.", () => true);
  // An interruption ends the wait for Enter too.
  await Promise.race([asked, showing]).finally(() => {
    isDone = true;
  });
  await showing;
  return sensorFinding(await heard(), drivers);
}

function sensorFinding(
  heard: readonly { name: string; listener: string | undefined; times: number }[],
  drivers: GatewayStatus["drivers"],
): BurnInFinding {
  const few = heard.filter(({ times }) => times < speaks);
  const deaf = drivers.flatMap(({ name }) => {
    const own = heard.filter(({ listener }) => listener === name);
    const isDeaf = own.length > 0 && own.every(({ times }) => times === 0);
    return isDeaf ? [`[${name}] heard none of its ${own.length} sensors: its stick is deaf`] : [];
  });
  if (deaf.length > 0) return { outcome: "failed", found: `${deaf.join(", ")}.` };
  if (few.length === 0)
    return { outcome: "passed", found: `Each of ${heard.length} sensors was heard ${speaks} times.` };
  const names = few.slice(0, named_max).map(({ name, times }) => `${name} ${times} times`);
  const more = few.length > named_max ? ` and ${few.length - named_max} more too rarely` : "";
  return { outcome: "failed", found: `Of ${speaks} times the box heard ${names.join(", ")}${more}.` };
}

/** Whether the channel of the Zigbee network is quiet, and every device has a good way to the stick. */
export async function checkRadio(bench: Bench): Promise<BurnInFinding> {
  await running(bench);
  if (!bench.config?.drivers.has("zigbee"))
    return { outcome: "skipped", found: "this box has no Zigbee stick, and other radios measure no noise." };
  const client = new ControlClient(bench.directory);
  const noise = await client.measureNoise().catch((thrown: unknown) => {
    if (thrown instanceof OperatorError) return thrown.what;
    throw thrown;
  });
  const isLoud = typeof noise === "object" ? noiseFault(noise) : undefined;
  if (isLoud !== undefined) return { outcome: "failed", found: isLoud };
  const scan = await client.scanMesh();
  const items = await bench.items();
  const words = meshWords({
    scans: scan === undefined ? [] : [scan],
    nameOf: namesByAddress(items.map(({ record }) => [record.macaddress, record.itemname])),
    zone: bench.config.home.timezone,
    timeText: momentText,
  });
  if (words === undefined) return { outcome: "failed", found: "The stick tells nothing of its devices." };
  const [need] = words.needs;
  if (need !== undefined)
    return { outcome: "failed", found: `${need.what} ${need.remedy}`.slice(0, found_length_max) };
  const measured =
    typeof noise === "object"
      ? `Channel ${noise.channel} has ${energyOn(noise, noise.channel)} of 255 of noise.`
      : `${noise}.`;
  return { outcome: "passed", found: `${measured} ${words.answer}`.slice(0, found_length_max) };
}

/** The fault of noise that keeps a stick from hearing, in a sentence. */
function noiseFault(noise: ChannelNoise): string | undefined {
  const own = energyOn(noise, noise.channel);
  if (own < loud_energy) return undefined;
  const quietest = noise.energies.reduce(
    (best, energy, at) => (energy < energyOn(noise, best) ? at + 11 : best),
    11,
  );
  const least = energyOn(noise, quietest);
  if (least >= loud_energy)
    return `Every channel has noise, channel ${quietest} the least with ${least} of 255: it comes from the box itself or from beside it.`;
  return `Channel ${noise.channel}, which the network has, has ${own} of 255 of noise, and channel ${quietest} only ${least}.`;
}

function energyOn({ energies }: ChannelNoise, channel: number): number {
  return energies[channel - 11] ?? 0;
}

/** Halfway from the quietest to the loudest that a stick measures: about -60 dBm with an ember stick. A weak sensor is not heard above it. */
const loud_energy = 128;
const found_length_max = 500;

/** The status of the gateway. @throws OperatorError where none runs */
async function running({ directory }: Bench): Promise<GatewayStatus> {
  const status = await new ControlClient(directory).statusIfRunning();
  if (status !== undefined) return status;
  throw new OperatorError(
    `no gateway is running on ${directory}`,
    "start it (sudo systemctl start lintel), then run lintel burn-in again",
  );
}

/** A driver as it is now; undefined while the gateway starts again. */
async function driver({ directory }: Bench, name: string) {
  const status = await new ControlClient(directory).statusIfRunning();
  return status?.drivers.find((one) => one.name === name);
}

/** Whether somebody can pull out what a driver listens to. */
function hasPort({ config }: Bench, name: string): boolean {
  const { port = "" } = (config?.drivers.get(name) ?? {}) as { port?: string };
  return port.startsWith("/dev/") || (port.startsWith("/") && !port.startsWith("/sys/"));
}

async function sensors(bench: Bench): Promise<ItemOverview[]> {
  return (await bench.items()).filter(({ record, replaced }) => {
    const isHere = record.statusname !== itemStatus.decommissioned.statusname && replaced === undefined;
    const kind = record.typename as Kind;
    return isHere && record.typename !== "gateways" && !cadenceOf(kind, record.subtypename).buffered;
  });
}
