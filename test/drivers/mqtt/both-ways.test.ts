import { afterAll, expect, test } from "bun:test";
import type { Models } from "zigbee-herdsman";
import { findByDevice } from "zigbee-herdsman-converters";
import type { Definition, Fz } from "zigbee-herdsman-converters/lib/types";
import { Messages } from "../../../drivers/mqtt/messages.ts";
import { zigbeeDevices, zigbeeInfo, zigbeeState } from "../../../drivers/mqtt/simulator/messages.ts";
import { exposesIn, propertiesOf } from "../../../drivers/wire/exposes.ts";
import { HerdsmanLog } from "../../../drivers/zigbee/herdsman-log.ts";
import { LastStatuses } from "../../../drivers/zigbee/last-status.ts";
import { Sensors } from "../../../drivers/zigbee/sensors.ts";
import { allDefinitions } from "../../../scripts/trial-programs/with-source/fuzz/converter-oracle.ts";
import {
  type GeneratedMessage,
  messagesFor,
} from "../../../scripts/trial-programs/with-source/fuzz/zigbee-messages.ts";
import { clockQuality } from "../../../src/base/clock.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { printOf, StandInDevice } from "../../../testbed/stand-in-device.ts";

const directory = temporaryDirectory();
afterAll(() => directory.remove());

const began = { unix_ms: 1_800_000_000_000, monotonic_ms: 5_000_000, quality: clockQuality.synchronised };
const between_ms = 60_000;
let devices = 0;

/** A device that one gateway hears by its own stick, and another by way of Zigbee2MQTT, which publishes what its converters return. */
class BothWays {
  readonly #stick: RecordingHost;
  readonly #hub: RecordingHost;
  readonly #device: StandInDevice;
  /** The hub's own: converters know a message that they have taken before. */
  readonly #asked: StandInDevice;
  readonly #definition: Definition;
  readonly #sensors: Sensors;
  readonly #statuses: LastStatuses;
  readonly #messages: Messages;
  readonly #state: Record<string, unknown> = {};
  #said = 0;

  static async of(definition: Definition): Promise<BothWays | undefined> {
    devices += 1;
    const device = new StandInDevice(
      `0x500000000000${devices.toString(16).padStart(4, "0")}`,
      printOf(definition),
    );
    const own = (await findByDevice(device as never)) as Definition | undefined;
    return own === undefined ? undefined : new BothWays(device, own);
  }

  private constructor(device: StandInDevice, definition: Definition) {
    this.#device = device;
    this.#asked = new StandInDevice(device.ieeeAddr.replace("0x50", "0x51"), printOf(definition));
    this.#definition = definition;
    this.#stick = new RecordingHost({ directory: directory.path });
    this.#hub = new RecordingHost({ directory: directory.path });
    this.#statuses = new LastStatuses(this.#stick);
    const herdsmanLog = new HerdsmanLog({ ...this.#stick, dropped: () => {} });
    this.#sensors = new Sensors({ host: this.#stick, statuses: this.#statuses, herdsmanLog });
    this.#messages = new Messages({ host: this.#hub, welcome: true, topics: {} });
  }

  async begin(): Promise<void> {
    await this.#sensors.identify(this.#device as unknown as Models.Device);
    const { ieeeAddr: ieee, modelID: model = "" } = this.#device;
    const exposes = JSON.parse(JSON.stringify(this.#exposes()));
    await this.#publish(
      zigbeeDevices([{ ieee, name: "one", model, vendor: this.#definition.vendor, exposes }]),
    );
    await this.#publish(zigbeeInfo({ cache_state: false, last_seen: "epoch" }));
  }

  /** Messages that its converters take, but those of a zone, which are recorded by the stick as they are. */
  possible(): GeneratedMessage[] {
    return this.#definition.fromZigbee
      .filter(({ cluster }) => cluster !== "ssIasZone")
      .flatMap((converter) => messagesFor(converter, this.#definition, this.#device));
  }

  async say(said: GeneratedMessage): Promise<void> {
    this.#said += 1;
    const later_ms = this.#said * between_ms;
    const meta = {
      zclTransactionSequenceNumber: this.#said % 256,
      rawData: Buffer.alloc(0),
      frameControl: {},
    };
    const of = (device: StandInDevice) =>
      ({ ...said, device, endpoint: device.getEndpoint(1), groupID: 0, meta }) as never;
    const payload = await this.#payloadOf(of(this.#asked));
    if (payload === undefined) return;
    const moment = {
      ...began,
      unix_ms: began.unix_ms + later_ms,
      monotonic_ms: began.monotonic_ms + later_ms,
    };
    this.#sensors.message(of(this.#device), moment);
    await this.#sensors.settled();
    await this.#publish(zigbeeState("one", { ...payload, last_seen: moment.unix_ms }));
  }

  /** The records of each way. Settings are left out: a hub repeats them in messages of which they are no part. */
  async end() {
    await this.#sensors.close();
    this.#statuses.close();
    const properties = propertiesOf(exposesIn(this.#exposes()));
    const settings = [...properties].filter(([, { isSetting }]) => isSetting).map(([name]) => name);
    const isSetting = (quantity: unknown) =>
      settings.some(
        (name) =>
          quantity === name || (`${quantity}`.startsWith(`${name}_`) && !properties.has(`${quantity}`)),
      );
    const recorded = ({ readings }: RecordingHost) =>
      readings
        .filter(({ values }) => !isSetting(values["quantity"]))
        .map(({ device: { address, subtype, model }, values }) => ({ address, subtype, model, ...values }));
    return { stick: recorded(this.#stick), hub: recorded(this.#hub) };
  }

  #exposes(): unknown {
    const { exposes } = this.#definition;
    return typeof exposes === "function" ? exposes(this.#device as never, {}) : exposes;
  }

  async #publish({ topic, payload }: { topic: string; payload: string }): Promise<void> {
    const arrival = {
      topic,
      payload: new TextEncoder().encode(payload),
      moment: began,
      retained: false,
      acknowledged: true,
    };
    await this.#messages.take(arrival, "live");
  }

  /** The payload that Zigbee2MQTT publishes of a message; undefined where a converter fails. */
  async #payloadOf(message: Fz.Message<string>): Promise<object | undefined> {
    const payload: Record<string, unknown> = {};
    const meta = {
      device: this.#asked,
      state: this.#state,
      deviceExposesChanged: () => {},
    } as unknown as Fz.Meta;
    try {
      for (const { cluster, type, convert } of this.#definition.fromZigbee)
        if (cluster === message.cluster && [type].flat().includes(message.type as never))
          Object.assign(payload, await convert(this.#definition, message as never, () => {}, {}, meta));
    } catch {
      return undefined;
    }
    Object.assign(this.#state, payload);
    return JSON.parse(JSON.stringify(payload));
  }
}

const every = 70;

test("what a model says is recorded alike from the stick and by way of Zigbee2MQTT, whatever it is of", async () => {
  const definitions = allDefinitions();
  let readings = 0;
  for (let index = 0; index < definitions.length; index += every) {
    const both = await BothWays.of(definitions[index] ?? ({} as never));
    if (both === undefined) continue;
    await both.begin();
    for (const message of both.possible()) await both.say(message);
    const { stick, hub } = await both.end();
    expect({ model: definitions[index]?.model, recorded: hub }).toEqual({
      model: definitions[index]?.model,
      recorded: stick,
    });
    readings += stick.length;
  }
  expect(readings).toBeGreaterThan(500);
});

const told = (cluster: string, data: object, type = "attributeReport"): GeneratedMessage => ({
  cluster,
  type,
  data,
});

test.each([
  ["RTCGQ11LM", [told("msOccupancySensing", { occupancy: 1 })], ["event 2"]],
  ["MCCGQ11LM", [told("genOnOff", { onOff: 1 }), told("genOnOff", { onOff: 0 })], ["event 1", "event 0"]],
  ["E1743", [told("genOnOff", {}, "commandOn")], ["action_on 1"]],
  ["DJT11LM", [told("closuresDoorLock", { 85: 1 })], ["event 1", "action_vibration 1"]],
])("a %s says by way of Zigbee2MQTT what it says", async (model, says, expected) => {
  const definition = allDefinitions().find((one) => one.model === model);
  const both = await BothWays.of(definition ?? ({} as never));
  await both?.begin();
  for (const message of says) await both?.say(message);
  const { stick, hub } = (await both?.end()) ?? { stick: [], hub: [] };
  const print = (one: object) =>
    "event" in one
      ? `event ${one.event}`
      : "quantity" in one && "value" in one
        ? `${one.quantity} ${one.value}`
        : "";
  expect([stick.map(print).toSorted(), hub.map(print).toSorted()]).toEqual([
    expected.toSorted(),
    expected.toSorted(),
  ]);
});
