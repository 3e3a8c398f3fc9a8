import type { Controller, Events, Models } from "zigbee-herdsman";
import type { Moment } from "../../src/base/clock.ts";
import { messageOf } from "../../src/base/errors.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import { eventOf, type Payload, type Told, toldBy } from "../wire/properties.ts";
import { ClusterTranslator } from "./clusters.ts";
import { converterTranslator } from "./converters.ts";
import { isListed } from "./definitions.ts";
import { factsOf } from "./facts.ts";
import { Happenings } from "./happenings.ts";
import type { HerdsmanLog } from "./herdsman-log.ts";
import type { LastStatuses } from "./last-status.ts";
import { type SensorModel, sensorModel, zoneSubtypes } from "./models.ts";
import type { Step, Translator } from "./translator.ts";
import { isSilent, type ZoneReport, zoneEndpoint, zoneReport, zoneTypeOf } from "./zone-status.ts";

/** A device that did not take its settings when it joined is asked again when it next speaks, so often for each start. */
const configure_tries_max = 3;

/** A device that announces itself is asked for its firmware this often at most: one with an empty battery announces itself all the time. */
const ask_interval_ms = 6 * 3_600_000;
const basicCluster = 0x0000;

interface Sensor {
  readonly device: Device;
  readonly ieee: string;
  readonly translator: Translator;
  /** The work on its messages, one after the other. */
  tail: Promise<void>;
  configure_tries: number;
  configuring: boolean;
  /** When it was last asked for its firmware, monotonic. */
  asked_ms: number;
  readonly happenings: Happenings;
}

/** A device that has joined under the address of a known one and is another: what it is, and from which network address it speaks. */
interface Pretender {
  readonly device: Device;
  readonly networkAddress: number;
}

/** Turns what zigbee-herdsman hears from sensors into readings and states. */
export class Sensors {
  readonly #host: Host;
  readonly #statuses: LastStatuses;
  readonly #herdsmanLog: HerdsmanLog;
  /** By IEEE address; as many as there are paired devices. Undefined for what is no sensor. */
  readonly #known = new Map<string, Sensor | undefined>();
  readonly #looking = new Map<string, Promise<Sensor | undefined>>();
  /** By IEEE address, until a person accepts it or the known device has joined again. */
  readonly #pretenders = new Map<string, Pretender>();
  #coordinator: Models.Endpoint | undefined;

  constructor(options: { host: Host; statuses: LastStatuses; herdsmanLog: HerdsmanLog }) {
    this.#host = options.host;
    this.#statuses = options.statuses;
    this.#herdsmanLog = options.herdsmanLog;
  }

  /** Learns what the devices of a controller are that has started, before their messages are handed on. */
  async prepare(controller: Controller): Promise<void> {
    for (const ieee of [...this.#known.keys()]) this.refresh(ieee);
    this.#coordinator = controller.getDevicesByType("Coordinator")[0]?.endpoints[0];
    for (const device of controller.getDevicesIterator(({ type }) => type !== "Coordinator"))
      await this.identify(device);
  }

  /** Takes a message that arrived at `moment`. Messages of devices that are no sensors are ignored. */
  message(message: Events.MessagePayload, moment: Moment): void {
    const { device } = message;
    if (this.#isPretender(device) || !this.#mayBe(device)) {
      this.#host.dropped("zigbee messages of devices that are not known to be those of their address");
      return;
    }
    // zigbee-herdsman has taken what it told of itself into the device.
    if (message.cluster === "genBasic") this.#describe(device);
    const zone = zoneReport(message);
    const sensor = this.#known.get(device.ieeeAddr);
    if (sensor !== undefined && device.meta["configured"] !== true) void this.configure(device);
    if (zone !== undefined) {
      this.#zone(sensor?.device ?? describe(device, undefined), zone, moment, message.linkquality);
      sensor?.happenings.takeZone(zone.zonestatus, { cluster: message.cluster, moment });
      return;
    }
    if (sensor !== undefined) this.#translate(sensor, message, moment);
    else if (!this.#known.has(device.ieeeAddr)) {
      void this.identify(device).then((found) => {
        if (found !== undefined) this.#translate(found, message, moment);
      });
    }
  }

  /** Notes a sign of life that carries no message, such as an announcement. */
  alive(device: Models.Device, moment: Moment): void {
    const sensor = this.#isPretender(device) ? undefined : this.#known.get(device.ieeeAddr);
    if (sensor !== undefined) this.#host.heard({ device: sensor.device, heard_ms: moment.unix_ms });
  }

  /** Tells the translator of a device of a step that it took. */
  took(device: Models.Device, step: "deviceAnnounce" | "deviceNetworkAddressChanged"): void {
    const sensor = this.#known.get(device.ieeeAddr);
    this.#step(sensor, step);
    if (step === "deviceAnnounce" && sensor !== undefined) void this.#askFirmware(sensor, device);
  }

  /** A device announces itself after a start, which may be one with other firmware. */
  async #askFirmware(sensor: Sensor, device: Models.Device): Promise<void> {
    const now_ms = this.#host.clock.now().monotonic_ms;
    const endpoint = device.endpoints.find(({ inputClusters }) => inputClusters.includes(basicCluster));
    if (endpoint === undefined || now_ms - sensor.asked_ms < ask_interval_ms) return;
    sensor.asked_ms = now_ms;
    try {
      await endpoint.read("genBasic", ["dateCode", "swBuildId"], { sendPolicy: "immediate" });
      this.#describe(device);
    } catch (thrown) {
      this.#host.log.debug(`${device.ieeeAddr} does not tell its firmware: ${messageOf(thrown)}`);
    }
  }

  /** Tells the facts of a device. What joins under its address tells of itself before anybody has compared the two: that is left out. */
  #describe(device: Models.Device): void {
    const sensor = this.#known.get(device.ieeeAddr);
    if (sensor === undefined || this.#pretenders.has(device.ieeeAddr) || !hasBeenInterviewed(device)) return;
    const { translator } = sensor;
    if (this.#host.identify({ device: describe(device, translator) }, { note: false }) === "conflict") return;
    this.#host.describe(sensor.device, factsOf(device, translator, sensorModel(modelOf(device))));
  }

  /** Finds out what a device is; undefined when it is no sensor, or has not told yet. */
  identify(device: Models.Device): Promise<Sensor | undefined> {
    const ieee = device.ieeeAddr;
    if (this.#known.has(ieee)) return Promise.resolve(this.#known.get(ieee));
    const looking = this.#looking.get(ieee);
    if (looking !== undefined) return looking;
    if (!hasBeenInterviewed(device)) return Promise.resolve(undefined);
    const found = this.#look(device).finally(() => this.#looking.delete(ieee));
    this.#looking.set(ieee, found);
    return found;
  }

  /**
   * Whether a device that has just told what it is, is the one that is known under its address. If not, the known one is heard as before, from another network address than
   * the new one has; where both have the same nobody could tell them apart, and neither is heard.
   */
  isItself(device: Models.Device, before: { readonly sensor: Sensor | undefined }): boolean {
    const ieee = device.ieeeAddr;
    const sensor = this.#known.get(ieee);
    if (sensor === undefined) return true;
    if (this.#host.identify({ device: sensor.device }) !== "conflict") {
      this.#pretenders.delete(ieee);
      return true;
    }
    this.#pretenders.set(ieee, { device: sensor.device, networkAddress: device.networkAddress });
    if (before.sensor !== undefined) this.#known.set(ieee, before.sensor);
    return false;
  }

  known(ieee: string): Sensor | undefined {
    return this.#known.get(ieee);
  }

  /** Whether it is not the one that is known, by the network address from which it speaks. One that a person has accepted is the sensor from now on. */
  #isPretender(device: Models.Device): boolean {
    const ieee = device.ieeeAddr;
    const pretender = this.#pretenders.get(ieee);
    if (pretender === undefined) return false;
    const isNew = pretender.networkAddress === device.networkAddress;
    const speaks = isNew ? pretender.device : this.#known.get(ieee)?.device;
    if (speaks === undefined || this.#host.identify({ device: speaks }) === "conflict") return true;
    if (isNew) {
      this.#pretenders.delete(ieee);
      this.refresh(ieee);
    }
    return false;
  }

  /** Before a device has told what it is, it may only be a new one. */
  #mayBe(device: Models.Device): boolean {
    const ieee = device.ieeeAddr;
    if (this.#known.has(ieee) || hasBeenInterviewed(device)) return true;
    const { kind, address } = describe(device, undefined);
    return this.#host.identify({ device: { kind, address } }, { note: false }) === "new";
  }

  /** Has a sensor tell of itself from now on. What it refuses is recorded all the same. */
  async configure(device: Models.Device): Promise<void> {
    const sensor = this.#known.get(device.ieeeAddr);
    const coordinator = this.#coordinator;
    if (sensor === undefined || coordinator === undefined || sensor.configuring) return;
    if (sensor.configure_tries >= configure_tries_max) return;
    sensor.configure_tries += 1;
    sensor.configuring = true;
    try {
      await sensor.translator.configure(coordinator);
      device.meta["configured"] = true;
      device.save();
    } catch (thrown) {
      this.#host.log.debug(`${device.ieeeAddr} does not take its settings: ${messageOf(thrown)}`);
    } finally {
      sensor.configuring = false;
    }
  }

  /** Looks at a device anew when it is next heard: it has been interviewed, or is another object now. */
  refresh(ieee: string): void {
    this.#step(this.#known.get(ieee), "stop");
    this.#known.delete(ieee);
  }

  /** A device that has left may come back in another state. */
  forget(ieee: string): void {
    this.refresh(ieee);
    this.#statuses.forget(addressOf(ieee));
  }

  /** Resolves when every message that came has been handed on. */
  async settled(): Promise<void> {
    await Promise.all(this.#looking.values());
    await Promise.all([...this.#known.values()].map((sensor) => sensor?.tail));
  }

  /** Ends, when every message that came has been handed on. */
  async close(): Promise<void> {
    await this.settled();
    for (const ieee of [...this.#known.keys()]) this.refresh(ieee);
  }

  async #look(device: Models.Device): Promise<Sensor | undefined> {
    const model = sensorModel(modelOf(device));
    const translator = await this.#translatorOf(device, model);
    const isSensor = model !== undefined || zoneEndpoint(device) !== undefined || translator.senses;
    const sensor = isSensor
      ? {
          device: describe(device, translator),
          ieee: device.ieeeAddr,
          translator,
          tail: Promise.resolve(),
          configure_tries: 0,
          configuring: false,
          asked_ms: Number.NEGATIVE_INFINITY,
          happenings: new Happenings(),
        }
      : undefined;
    this.#known.set(device.ieeeAddr, sensor);
    // Found so after a start, when nobody knows any more from where the known one speaks: neither is heard.
    if (
      sensor !== undefined &&
      this.#host.identify({ device: sensor.device }, { note: false }) === "conflict"
    )
      this.#pretenders.set(device.ieeeAddr, { device: sensor.device, networkAddress: device.networkAddress });
    else this.#describe(device);
    this.#step(sensor, "start");
    return sensor;
  }

  /** By its own clusters what this driver's table lists and what nobody lists, by its definition any other. */
  async #translatorOf(device: Models.Device, model: SensorModel | undefined): Promise<Translator> {
    try {
      if (model === undefined && isListed(device)) {
        const found = await converterTranslator(device, this.#herdsmanLog);
        if (found !== undefined) return found;
      }
    } catch (thrown) {
      const name = `${device.manufacturerName ?? ""} ${modelOf(device)}`.trim();
      this.#host.log.warn(`the definition of a ${name} cannot be used: ${messageOf(thrown)}`);
    }
    return new ClusterTranslator(device, model);
  }

  #step(sensor: Sensor | undefined, step: Step): void {
    sensor?.translator
      .follow(step)
      .catch((thrown: unknown) =>
        this.#host.log.debug(`${sensor.ieee} does not take part in its ${step}: ${messageOf(thrown)}`),
      );
  }

  #translate(sensor: Sensor, message: Events.MessagePayload, moment: Moment): void {
    const { device } = message;
    const take = async () => {
      let payload: Payload = {};
      try {
        payload = await sensor.translator.translate(message);
      } catch (thrown) {
        this.#host.dropped("zigbee messages that a converter cannot take apart");
        this.#host.log.debug(`a message of ${device.ieeeAddr} (${message.cluster}): ${messageOf(thrown)}`);
      }
      const told = toldBy(payload, sensor.translator.properties);
      if (told.unrecorded > 0)
        this.#host.dropped("zigbee values that are neither numbers nor known words", told.unrecorded);
      this.#record(sensor, told, { cluster: message.cluster, moment });
      const heard = { device: sensor.device, heard_ms: moment.unix_ms, ...told.battery };
      this.#host.heard({ ...heard, ...linkqualityOf(message.linkquality) });
    };
    sensor.tail = sensor.tail.then(take);
  }

  #record(
    sensor: Sensor,
    { signs, measures }: Told,
    { cluster, moment }: { cluster: string | number; moment: Moment },
  ): void {
    const { device } = sensor;
    const event = eventOf(signs);
    if (event !== undefined) {
      const { mask, again } = sensor.happenings.take(event, { cluster, moment });
      const last = this.#statuses.get(device.address)?.zonestatus;
      const zonestatus = ((last ?? 0) & ~mask) | (event.bits & mask);
      if (mask !== 0) this.#status(device, zonestatus, moment);
      if ((mask !== 0 && last !== zonestatus) || again !== 0)
        this.#happened(readingAt(device, moment), zonestatus);
    }
    for (const values of measures)
      void this.#accept({
        ...readingAt(device, moment),
        series: "wirelesssensor_measures",
        values: { ...values },
      });
  }

  #zone(device: Device, zone: ZoneReport, moment: Moment, linkquality: number): void {
    const silent = isSilent(zone, this.#statuses.get(device.address), moment);
    this.#status(device, zone.zonestatus, moment);
    if (!silent) this.#happened(readingAt(device, moment, zone.delay_ms), zone.zonestatus);
    this.#host.heard({ device, heard_ms: moment.unix_ms, ...linkqualityOf(linkquality) });
  }

  /** Before the reading: the status in the file must never be older than the reading on disk. */
  #status(device: Device, zonestatus: number, { monotonic_ms }: Moment): void {
    this.#statuses.set(device.address, { zonestatus, monotonic_ms });
  }

  #happened(at: ReturnType<typeof readingAt>, event: number): void {
    const recorded = this.#accept({ ...at, series: "wirelesssensor_events", values: { event } });
    this.#statuses.await(at.device.address, recorded);
  }

  /** Whether it is recorded. A refused reading has already been counted and logged by the host. */
  #accept(reading: Reading): Promise<boolean> {
    return this.#host.accept(reading).catch(() => false);
  }
}

/** Whether it has told what it is; some never answer all questions, and work nevertheless. */
function hasBeenInterviewed({ interviewState, modelID }: Models.Device): boolean {
  const state = String(interviewState);
  return state === "SUCCESSFUL" || (state === "FAILED" && modelID !== undefined);
}

/** A device as the driver knows it. */
function describe(device: Models.Device, translator: Translator | undefined): Device {
  const name = modelOf(device);
  const model = sensorModel(name);
  const subtype = model?.subtype ?? zoneSubtypes.get(zoneTypeOf(device) ?? -1) ?? translator?.subtype;
  const vendor = model?.vendor ?? translator?.vendor ?? device.manufacturerName?.trim();
  return {
    kind: "wirelesssensors",
    address: addressOf(device.ieeeAddr),
    ...(subtype === undefined ? {} : { subtype }),
    ...(name === "" ? {} : { model: name }),
    ...(vendor === undefined || vendor === "" ? {} : { vendor }),
  };
}

function readingAt(device: Device, { unix_ms, monotonic_ms, quality }: Moment, delay_ms = 0) {
  return {
    device,
    stamp_ms: unix_ms - delay_ms,
    clock: quality,
    monotonic_ms: monotonic_ms - delay_ms,
  };
}

/** `00:0d:6f:…` from zigbee-herdsman's `0x000d6f…`. */
export function addressOf(ieee: string): string {
  return (ieee.replace(/^0x/, "").toLowerCase().match(/../g) ?? []).join(":");
}

/** Some makes fill their model identifier with zeros or blanks. */
export function modelOf(device: Models.Device): string {
  return (device.modelID ?? "").replace(/[\0\s]+$/, "");
}

function linkqualityOf(linkquality: unknown): { linkquality?: number } {
  return typeof linkquality === "number" && linkquality >= 0 && linkquality <= 255 ? { linkquality } : {};
}
