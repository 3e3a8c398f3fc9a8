import { batteryAttributes, readRecords } from "./attributes.ts";
import {
  type SimulatedMessage,
  type SimulatedModel,
  type SimulatedModelName,
  simulatedModels,
} from "./models.ts";
import { reversed } from "./nv.ts";
import {
  type AttributeValue,
  cluster,
  decodeValue,
  decodeZcl,
  encodeStatusChange,
  encodeValue,
  encodeZcl,
  foundation,
  iasZone,
  status,
  withSequence,
  type ZclFrame,
} from "./zcl.ts";

/** Where an interview goes wrong. The silent ones make the gateway wait; the others are refused at once, of what is unreachable everything. */
export type InterviewFault =
  | "nodeDescriptor"
  | "activeEndpoints"
  | "simpleDescriptor"
  | "enrol"
  | "silent"
  | "unreachable"
  /** Answers with the first page of a table, whichever is asked for. */
  | "repeating"
  | "enrolSilent";

export interface DeviceExport {
  readonly ieee: string;
  readonly model: SimulatedModelName;
  /** Its model in its own words; absent: the name of the model. */
  readonly identifier?: string;
  readonly manufacturer: string;
  readonly zone_type: number | null;
  readonly nwk: number;
  /** The network key it was given when it joined; null while it belongs to no network. */
  readonly network_key: string | null;
  /** The network and the coordinator with which it joined, as a stick has them; absent: that of the key. */
  readonly home?: string | undefined;
  readonly zonestatus: number;
  readonly enrolled: boolean;
  readonly cie: string;
}

/** A device that another hears, as its table of neighbours has it. */
export interface Neighbour {
  readonly wireAddress: Buffer;
  readonly nwk: number;
  readonly kind: "coordinator" | "router" | "sleeper";
  readonly relation: "parent" | "child" | "sibling";
  /** How well it is heard, 0 to 255. */
  readonly quality: number;
}

/** The coordinator's functions that a device's radio uses. Each answers false when nobody hears the device. */
export interface Air {
  /** Associates with the coordinator: needs open joining unless the device already has the network's key. */
  join(device: SimulatedDevice): boolean;
  leave(device: SimulatedDevice): boolean;
  send(device: SimulatedDevice, endpoint: number, clusterId: number, zcl: Buffer): boolean;
  /** The devices that one hears. */
  neighbours(device: SimulatedDevice): readonly Neighbour[];
}

const received_max = 100;

/** Where a frame comes from or goes to. */
interface Place {
  readonly endpoint: number;
  readonly cluster: number;
}

/** `16 bits idle`: restore reports (0x20) and supervision reports (0x10) supported, no alarm. */
export const idle_status = 0x0030;

/** A sensor, or something else, on the air: speaks the device's side of interview, enrolment and notification. */
export class SimulatedDevice {
  readonly ieee: string;
  readonly modelName: SimulatedModelName;
  readonly model: SimulatedModel;
  readonly identifier: string;
  readonly manufacturer: string;
  readonly zone_type: number | undefined;
  nwk: number;
  network_key: Buffer | undefined;
  home: string | undefined;
  zonestatus: number;
  /** How well it is heard by what it hangs on, … */
  linkquality = 150;
  /** … and a router hears that. */
  linkquality_back = 140;
  /** The router that it hangs on; undefined: the stick. */
  parent: SimulatedDevice | undefined;
  enrolled: boolean;
  fault: InterviewFault | undefined;
  battery_percent = 100;
  battery_mv = 3000;
  firmware = "1.2.4";
  datecode = "20190123";
  /** The alarm centre it notifies, as it stands on the wire; zeros for none. */
  cie: Buffer;
  /** How often a host has begun to interview it. */
  interviews = 0;
  /** The commands of clusters that it was last sent, `received_max` at most. */
  readonly received: { readonly cluster: number; readonly command: number; readonly payload: Buffer }[] = [];
  #sequence = 0;
  readonly #air: Air;

  constructor(air: Air, state: DeviceExport) {
    this.#air = air;
    this.ieee = state.ieee;
    this.modelName = state.model;
    this.model = simulatedModels[state.model];
    this.identifier = state.identifier ?? state.model;
    this.manufacturer = state.manufacturer;
    this.zone_type = state.zone_type ?? undefined;
    this.nwk = state.nwk;
    this.network_key = state.network_key === null ? undefined : Buffer.from(state.network_key, "hex");
    this.home = state.home;
    this.zonestatus = state.zonestatus;
    this.enrolled = state.enrolled;
    this.cie = Buffer.from(state.cie, "hex");
  }

  export(): DeviceExport {
    return {
      ieee: this.ieee,
      model: this.modelName,
      identifier: this.identifier,
      manufacturer: this.manufacturer,
      zone_type: this.zone_type ?? null,
      nwk: this.nwk,
      network_key: this.network_key?.toString("hex") ?? null,
      home: this.home,
      zonestatus: this.zonestatus,
      enrolled: this.enrolled,
      cie: this.cie.toString("hex"),
    };
  }

  /** As a MAC capability field (802.15.4 7.3.1.2): a router on mains, or a sleeper. */
  get capabilities(): number {
    return this.model.router ? 0x8e : 0x80;
  }

  /** The address as it stands on the wire, least significant byte first. */
  get wireAddress(): Buffer {
    return reversed(Buffer.from(this.ieee.replaceAll(":", ""), "hex"));
  }

  neighbours(): readonly Neighbour[] {
    return this.#air.neighbours(this);
  }

  /** Asks to join, or rejoins a network whose key it has. False while joining is closed. */
  join(): boolean {
    return this.#air.join(this);
  }

  leave(): boolean {
    const left = this.#air.leave(this);
    this.forget();
    return left;
  }

  /** A factory reset: no network, not enrolled. */
  forget(): void {
    this.network_key = undefined;
    this.enrolled = false;
    this.cie = Buffer.alloc(8);
  }

  /** Makes the next interviews fail at this step; undefined mends it. */
  failInterview(fault: InterviewFault | undefined): void {
    this.fault = fault;
  }

  /** Sends a Zone Status Change Notification, and keeps `zonestatus` as the present one. */
  notify(
    zonestatus: number,
    options: { delay_quarter_s?: number; default_response?: boolean; sequence?: number } = {},
  ): boolean {
    this.zonestatus = zonestatus;
    const payload = encodeStatusChange({
      zonestatus,
      zone: 23,
      delay_quarter_s: options.delay_quarter_s ?? 0,
    });
    return this.#send(this.#placeOf(cluster.iasZone), {
      specific: true,
      command: iasZone.statusChange,
      payload,
      disableDefaultResponse: !(options.default_response ?? false),
      ...(options.sequence === undefined ? {} : { sequence: options.sequence }),
    });
  }

  /** Raises the alarm of this kind of device (presence, or an opened door). */
  alarm(): boolean {
    return this.notify(idle_status | (this.model.zone?.alarm ?? 0));
  }

  /** Takes the alarm back. */
  restore(): boolean {
    return this.notify(idle_status);
  }

  /** The supervision report that a sensor sends about every two hours: its status, unchanged. */
  heartbeat(): boolean {
    return this.notify(this.zonestatus);
  }

  /** Reports the zone status as an attribute, as some makes do beside or instead of notifying. */
  reportStatus(zonestatus: number): boolean {
    this.zonestatus = zonestatus;
    return this.report(cluster.iasZone, [[0x0002, { type: "bitmap16", value: zonestatus }]]);
  }

  /** Starts with another firmware, and says that it is there. */
  update(firmware: string, datecode: string): boolean {
    this.firmware = firmware;
    this.datecode = datecode;
    return this.join();
  }

  /** Reports charge, in the unit that this model uses, and voltage, in steps of 100 mV. */
  reportBattery(percent: number, mv?: number): boolean {
    this.battery_percent = percent;
    if (mv !== undefined) this.battery_mv = mv;
    return this.report(cluster.power, batteryAttributes(this, mv !== undefined));
  }

  /** Sends a message that the table has for its model. */
  say(what: string): boolean {
    const message = this.model.says?.[what];
    if (message === undefined) throw new RangeError(`a ${this.modelName} does not say ${what}`);
    const sent = this.#sendWhole(message);
    return message.also === undefined ? sent : this.#sendWhole(message.also) && sent;
  }

  #sendWhole({ endpoint, cluster, zcl }: Omit<SimulatedMessage, "gives">): boolean {
    const frame = withSequence(Buffer.from(zcl.replaceAll(" ", ""), "hex"), this.#nextSequence());
    return this.#air.send(this, endpoint, cluster, frame);
  }

  /** Takes a ZCL frame that the coordinator sent to an endpoint of it. False when the device is asleep for good. */
  receive(endpoint: number, clusterId: number, bytes: Buffer): boolean {
    if (this.fault === "silent") return false;
    const frame = decodeZcl(bytes);
    if (frame === undefined) return true;
    const at = { endpoint, cluster: clusterId };
    if (frame.specific) this.#receiveCommand(at, frame);
    else this.#receiveFoundation(at, frame);
    return true;
  }

  #receiveCommand(at: Place, frame: ZclFrame): void {
    this.received.push({ cluster: at.cluster, command: frame.command, payload: frame.payload });
    if (this.received.length > received_max) this.received.shift();
    if (at.cluster === cluster.iasZone && frame.command === iasZone.enrolResponse && !frame.fromServer) {
      if (frame.payload[0] === 0 && this.fault !== "enrolSilent") this.enrolled = true;
    }
    if (!frame.disableDefaultResponse) {
      this.#reply(at, frame, foundation.defaultResponse, Buffer.from([frame.command, status.success]));
    }
  }

  #receiveFoundation(at: Place, frame: ZclFrame): void {
    switch (frame.command) {
      case foundation.readAttributes:
        this.#reply(at, frame, foundation.readResponse, readRecords(this, at.cluster, frame.payload));
        break;
      case foundation.writeAttributes:
        this.#write(at, frame);
        break;
      case foundation.configureReporting:
        this.#reply(at, frame, foundation.configureReportingResponse, Buffer.from([status.success]));
        break;
    }
  }

  #write(at: Place, frame: ZclFrame): void {
    const id = frame.payload.length >= 2 ? frame.payload.readUInt16LE(0) : -1;
    const written = decodeValue(frame.payload.subarray(2));
    if (at.cluster !== cluster.iasZone || id !== 0x0010 || written?.attribute.type !== "eui64") {
      this.#reply(at, frame, foundation.writeResponse, Buffer.from([status.success]));
      return;
    }
    const refused = this.fault === "enrol";
    if (!refused) this.cie = written.attribute.value;
    const answer = refused ? Buffer.from([status.notAuthorized, 0x10, 0x00]) : Buffer.from([status.success]);
    this.#reply(at, frame, foundation.writeResponse, answer);
    if (this.zone_type === undefined || this.fault !== undefined) return;
    const request = Buffer.alloc(4);
    request.writeUInt16LE(this.zone_type, 0);
    request.writeUInt16LE(this.model.manufacturer_code, 2);
    this.#send(at, {
      specific: true,
      command: iasZone.enrolRequest,
      payload: request,
      disableDefaultResponse: true,
    });
  }

  /** Reports attributes of a cluster. */
  report(clusterId: number, attributes: readonly (readonly [number, AttributeValue])[]): boolean {
    const records = attributes.map(([id, value]) => Buffer.concat([u16(id), encodeValue(value)]));
    return this.#send(this.#placeOf(clusterId), {
      specific: false,
      command: foundation.reportAttributes,
      payload: Buffer.concat(records),
      disableDefaultResponse: true,
    });
  }

  #reply(at: Place, to: ZclFrame, command: number, payload: Buffer): void {
    this.#send(at, {
      specific: false,
      ...(to.manufacturer === undefined ? {} : { manufacturer: to.manufacturer }),
      command,
      payload,
      disableDefaultResponse: true,
      sequence: to.sequence,
    });
  }

  /** The first endpoint that has a cluster, and the cluster. */
  #placeOf(clusterId: number): Place {
    const { endpoints } = this.model;
    const endpoint = endpoints.find(({ input }) => input.includes(clusterId)) ?? endpoints[0];
    return { endpoint: endpoint?.id ?? 1, cluster: clusterId };
  }

  #send(at: Place, frame: Omit<ZclFrame, "sequence" | "fromServer"> & { sequence?: number }): boolean {
    const sequence = frame.sequence ?? this.#nextSequence();
    return this.#air.send(this, at.endpoint, at.cluster, encodeZcl({ ...frame, sequence, fromServer: true }));
  }

  #nextSequence(): number {
    this.#sequence = (this.#sequence + 1) & 0xff;
    return this.#sequence;
  }
}

export function u16(value: number): Buffer {
  return Buffer.from([value & 0xff, value >> 8]);
}
