import { createRequire } from "node:module";
import type { Events, Models } from "zigbee-herdsman";
import { findByDevice, setLogger } from "zigbee-herdsman-converters";
import type { Definition, Expose, Fz } from "zigbee-herdsman-converters/lib/types";
import { HerdsmanLog } from "../../../../drivers/zigbee/herdsman-log.ts";
import { LastStatuses } from "../../../../drivers/zigbee/last-status.ts";
import { sensorModel } from "../../../../drivers/zigbee/models.ts";
import { addressOf, Sensors } from "../../../../drivers/zigbee/sensors.ts";
import { clockQuality } from "../../../../src/base/clock.ts";
import { measureOf } from "../../../../src/domain/quantities.ts";
import type { RecordingHost } from "../../../../testbed/recording-host.ts";
import { printOf, StandInDevice } from "../../../../testbed/stand-in-device.ts";
import { type GeneratedMessage, messagesFor } from "./zigbee-messages.ts";

/** How a definition went: `agrees`, or why there was nothing to compare. */
export type Verdict =
  | "agrees"
  | "differs"
  /** Its converters take no message: it is only spoken to. */
  | "takes no message"
  /** They returned nothing for any message that was made. */
  | "returned nothing"
  /** A lamp, a lock or the like, of which nothing is recorded. */
  | "no sensor"
  | "in the driver's own table"
  /** A device with its name is found to be of another definition. */
  | "another definition has its name";

export interface Finding {
  readonly name: string;
  readonly verdict: Verdict;
  /** Messages that were compared, and those for which something was returned. */
  readonly messages: number;
  readonly answered: number;
  /** The first difference, where there is one. */
  readonly difference?: string;
}

/** Every definition that zigbee-herdsman-converters has. */
export function allDefinitions(): readonly Definition[] {
  const load = createRequire(import.meta.url);
  return load("zigbee-herdsman-converters/devices/index").default;
}

const silent = { debug: () => {}, info: () => {}, warning: () => {}, error: () => {} };
setLogger(silent);

const began = { unix_ms: 1_800_000_000_000, monotonic_ms: 5_000_000, quality: clockQuality.synchronised };
/** So far apart that no two messages tell of the same. */
const between_ms = 2_000;
/** Sequence numbers, by which converters know a message that was repeated. */
const sequences = 256;
const endpoints_max = 4;

/** Has every message that a definition's converters take recorded by Lintel, and asks the converters themselves, both at one time of the clock. */
export async function consult(host: RecordingHost, definition: Definition, index: number): Promise<Finding> {
  const { now } = Date;
  const began_ms = now();
  // Some converters tell how long ago something was.
  Date.now = () => began_ms;
  try {
    return await compare(host, definition, index);
  } finally {
    Date.now = now;
  }
}

async function compare(host: RecordingHost, definition: Definition, index: number): Promise<Finding> {
  const name = `${definition.vendor} ${definition.model}`;
  const done = (verdict: Verdict, rest: Partial<Finding> = {}): Finding => ({
    name,
    verdict,
    messages: 0,
    answered: 0,
    ...rest,
  });
  const print = printOf(definition);
  if (sensorModel(print.modelID ?? "") !== undefined) return done("in the driver's own table");
  const [heard, asked] = ["10", "20"].map(
    (half) => new StandInDevice(`0x${half}${index.toString(16).padStart(14, "0")}`, print),
  ) as [StandInDevice, StandInDevice];
  const own = await findByDevice(asked as never);
  if (own === undefined || (own.fromZigbee !== undefined && !sameDefinition(own, definition)))
    return done("another definition has its name");
  if (own.fromZigbee.length === 0) return done("takes no message");
  const ids = Object.values(own.endpoint?.(asked as never) ?? { default: 1 }).slice(0, endpoints_max);
  const oracle = new Oracle(own, asked);
  const statuses = new LastStatuses(host);
  statuses.forget(addressOf(heard.ieeeAddr));
  const herdsmanLog = new HerdsmanLog({ ...host, dropped: () => {} });
  const sensors = new Sensors({ host, statuses, herdsmanLog });
  host.readings.length = host.states.length = 0;
  if (own.fromZigbee.some(({ cluster }) => cluster === "ssIasZone"))
    for (const device of [heard, asked]) device.getEndpoint(ids[0] ?? 1).inputClusters.push(0x0500);
  const sensor = await sensors.identify(heard as unknown as Models.Device);
  await own.onEvent?.({
    type: "start",
    data: { device: asked as never, state: {}, options: {}, deviceExposesChanged: () => {} },
  });
  const generated = distinct(own.fromZigbee.flatMap((one) => messagesFor(one, own, asked)));
  let sequence = 0;
  let messages = 0;
  for (const id of [...new Set(ids)]) {
    for (const message of generated) {
      sequence = (sequence + 1) % sequences;
      const of = (device: StandInDevice) =>
        whole(message, device, id, sequence) as unknown as Events.MessagePayload;
      sensors.message(of(heard), later(messages++ * between_ms));
      await sensors.settled();
      await oracle.ask(of(asked));
    }
  }
  await sensors.close();
  statuses.close();
  await own.onEvent?.({ type: "stop", data: { ieeeAddr: asked.ieeeAddr } });
  const address = addressOf(heard.ieeeAddr);
  const recorded = host.readings
    .filter(({ device }) => device.address === address)
    .map(({ values }) => JSON.stringify(values));
  const batteries = host.states.flatMap(({ battery_percent }) => battery_percent ?? []);
  const difference =
    firstDifference(recorded, oracle.expected) ?? firstDifference(batteries.map(String), oracle.batteries);
  const counts = { messages: generated.length * new Set(ids).size, answered: oracle.answered };
  if (sensor === undefined)
    return recorded.length === 0
      ? done("no sensor", counts)
      : done("differs", { ...counts, difference: `of no sensor, recorded ${recorded[0]}` });
  if (difference !== undefined) return done("differs", { ...counts, difference });
  return done(oracle.answered === 0 ? "returned nothing" : "agrees", counts);
}

/** The records that there must be, told by the converters alone. */
class Oracle {
  readonly expected: string[] = [];
  readonly batteries: string[] = [];
  answered = 0;
  readonly #definition: Definition;
  readonly #exposes: ReadonlyMap<
    string,
    { unit?: string; type?: string; value_on?: unknown; value_off?: unknown }
  >;
  readonly #state: Record<string, unknown> = {};
  #event: number | undefined;
  /** It has told an end of this: it repeats how it is. */
  readonly #endings = new Set<string>();

  constructor(definition: Definition, device: StandInDevice) {
    this.#definition = definition;
    const exposes =
      typeof definition.exposes === "function" ? definition.exposes(device as never, {}) : definition.exposes;
    const all = (one: Expose): Expose[] => [one, ...(one.features ?? []).flatMap(all)];
    this.#exposes = new Map(exposes.flatMap(all).map((one) => [String(one.property), one as object]));
  }

  async ask(message: Events.MessagePayload): Promise<void> {
    const { data, device } = message;
    const zonestatus =
      message.cluster !== "ssIasZone"
        ? undefined
        : message.type === "commandStatusChangeNotification"
          ? (data as Record<string, unknown>)["zonestatus"]
          : (data as Record<string, unknown>)["zoneStatus"];
    if (typeof zonestatus === "number") {
      this.answered += 1;
      // As received, and unchanged attributes are no events.
      if (message.type === "commandStatusChangeNotification" || zonestatus !== this.#event)
        this.expected.push(JSON.stringify({ event: zonestatus }));
      this.#event = zonestatus;
      return;
    }
    const payload: Record<string, unknown> = {};
    try {
      for (const { cluster, type, convert } of this.#definition.fromZigbee) {
        if (cluster !== message.cluster || ![type].flat().includes(message.type as never)) continue;
        const meta = { device, state: this.#state, deviceExposesChanged: () => {} } as Fz.Meta;
        Object.assign(payload, await convert(this.#definition, message as never, () => {}, {}, meta));
      }
    } catch {
      return;
    }
    Object.assign(this.#state, payload);
    if (Object.keys(payload).length > 0) this.answered += 1;
    this.#expect(payload);
  }

  #expect(payload: Record<string, unknown>): void {
    const bits: [number, boolean][] = [];
    let motion = false;
    const measures: string[] = [];
    const has = (name: string) => this.#exposes.has(name);
    const doors = ["contact", "water_leak", "vibration", "smoke", "gas", "carbon_monoxide"];
    for (const [name, said] of Object.entries(payload)) {
      const { unit, type, value_on, value_off } = this.#exposes.get(name) ?? {};
      const value =
        typeof said !== "string" ? said : said === value_on ? true : said === value_off ? false : said;
      if (value === null || value === undefined || value === "" || name === "linkquality") continue;
      const isDoor = doors.includes(name) && (doors.find(has) ?? name) === name;
      const isMotion = name === "presence" || (name === "occupancy" && !has("presence"));
      if (typeof value === "boolean" && isMotion) bits.push([1, value]);
      else if (typeof value === "boolean" && isDoor) bits.push([0, name === "contact" ? !value : value]);
      else if (typeof value === "boolean" && name === "tamper") bits.push([2, value]);
      else if (typeof value === "boolean" && name === "battery_low") bits.push([3, value]);
      else if (name === "battery" && typeof value === "number") {
        if (Number.isFinite(value))
          this.batteries.push(String(Math.min(100, Math.max(0, Math.round(value)))));
      } else if (name === "voltage" && (unit ?? "mV") === "mV" && typeof value === "number") continue;
      else if (typeof value === "number") {
        if (Number.isFinite(value)) measures.push(JSON.stringify(measureOf(name, value, unit)));
      } else if (typeof value === "boolean")
        measures.push(JSON.stringify(measureOf(name, value ? 1 : 0, unit)));
      else if (value_on !== undefined && value === value_on)
        measures.push(JSON.stringify(measureOf(name, 1, unit)));
      else if (value_off !== undefined && value === value_off)
        measures.push(JSON.stringify(measureOf(name, 0, unit)));
      else if ((type === "enum" || name === "action") && /^[\w.+-]{1,40}$/.test(String(value)))
        measures.push(JSON.stringify(measureOf(`${name}_${value}`, 1)));
      const happens = (isMotion && name === "occupancy") || (isDoor && name === "vibration");
      if (happens && value === false) this.#endings.add(name);
      if (happens && value === true && !this.#endings.has(name)) motion = true;
    }
    if (bits.length > 0) {
      let event = this.#event ?? 0;
      for (const [bit, set] of bits) event = set ? event | (1 << bit) : event & ~(1 << bit);
      if (event !== this.#event || motion) this.expected.push(JSON.stringify({ event }));
      this.#event = event;
    }
    this.expected.push(...measures);
  }
}

function later(by_ms: number) {
  return { ...began, unix_ms: began.unix_ms + by_ms, monotonic_ms: began.monotonic_ms + by_ms };
}

function sameDefinition(found: Definition, wanted: Definition): boolean {
  const names = (one: Definition) => [one.model, ...(one.whiteLabel ?? []).map(({ model }) => model)];
  return found.description === wanted.description || names(wanted).includes(found.model);
}

function distinct(messages: readonly GeneratedMessage[]): GeneratedMessage[] {
  const byText = new Map(
    messages.map((message) => [
      JSON.stringify(message, (_, value) => (typeof value === "bigint" ? String(value) : value)),
      message,
    ]),
  );
  return [...byText.values()];
}

function whole(message: GeneratedMessage, device: StandInDevice, id: number, sequence: number) {
  const meta = { zclTransactionSequenceNumber: sequence, rawData: Buffer.alloc(0), frameControl: {} };
  return { ...message, device, endpoint: device.getEndpoint(id), groupID: 0, linkquality: 100, meta };
}

function firstDifference(recorded: readonly string[], expected: readonly string[]): string | undefined {
  const at = Array.from({ length: Math.max(recorded.length, expected.length) }).findIndex(
    (_, index) => recorded[index] !== expected[index],
  );
  return at < 0 ? undefined : `at ${at}: recorded ${recorded[at]}, returned ${expected[at]}`;
}
