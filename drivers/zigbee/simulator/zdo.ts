import { type Neighbour, type SimulatedDevice, u16 } from "./device.ts";

/** Clusters of requests to the device objects; an answer has the highest bit besides. Source: Zigbee specification (053474) 2.4. */
export const zdo = {
  networkAddress: 0x0000,
  ieeeAddress: 0x0001,
  nodeDescriptor: 0x0002,
  simpleDescriptor: 0x0004,
  activeEndpoints: 0x0005,
  announce: 0x0013,
  bind: 0x0021,
  unbind: 0x0022,
  lqi: 0x0031,
  leave: 0x0034,
  permitJoining: 0x0036,
  networkUpdate: 0x0038,
  answer: 0x8000,
} as const;

const success = Buffer.from([0]);
const notSupported = Buffer.from([0x84]);
/** Status of a request that a device does not grant: device not found. */
const refused = 0x81;
const faultOf: Readonly<Record<number, string>> = {
  [zdo.nodeDescriptor]: "nodeDescriptor",
  [zdo.simpleDescriptor]: "simpleDescriptor",
  [zdo.activeEndpoints]: "activeEndpoints",
};

/**
 * A device's answer to a request, from its status on; undefined where it says nothing. `fields` are those of the request without
 * its sequence number.
 */
export function answerOf(device: SimulatedDevice, request: number, fields: Buffer): Buffer | undefined {
  if (request === zdo.nodeDescriptor) device.interviews += 1;
  if (device.fault === "silent") return undefined;
  const nwk = u16(device.nwk);
  if (device.fault !== undefined && device.fault === faultOf[request]) return refusal(nwk);
  const { model } = device;
  switch (request) {
    case zdo.networkAddress:
    case zdo.ieeeAddress:
      return Buffer.concat([success, device.wireAddress, nwk, Buffer.alloc(2)]);
    case zdo.nodeDescriptor: {
      const kind = model.router ? [0x01, 0x40, 0x8e] : [0x02, 0x40, 0x80];
      return nodeDescriptor(nwk, kind, model.manufacturer_code);
    }
    case zdo.simpleDescriptor: {
      const endpoint = model.endpoints.find(({ id }) => id === fields.readUInt8(2));
      return simpleDescriptor(nwk, endpoint && { ...endpoint, profile: 0x0104 });
    }
    case zdo.activeEndpoints:
      return activeEndpoints(
        nwk,
        model.endpoints.map(({ id }) => id),
      );
    case zdo.lqi:
      if (!model.router) return notSupported;
      return neighbourTable(device.neighbours(), device.fault === "repeating" ? 0 : fields.readUInt8(0));
    case zdo.bind:
    case zdo.unbind:
    case zdo.leave:
      return success;
    default:
      return undefined;
  }
}

/** The answer about a device that is not there. */
export function refusal(nwk: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from([refused]), nwk, Buffer.alloc(1)]);
}

/** An endpoint of a coordinator, as its host has set it up. */
export interface OwnEndpoint {
  readonly id: number;
  readonly profile: number;
  readonly device_id: number;
  readonly input: readonly number[];
  readonly output?: readonly number[];
}

/** The answer of a coordinator itself; undefined where it says nothing. */
export function ownAnswer(
  request: number,
  fields: Buffer,
  own: {
    wireAddress: Buffer;
    manufacturer_code: number;
    endpoints: readonly OwnEndpoint[];
    neighbours: readonly Neighbour[];
    energies: readonly number[];
  },
): Buffer | undefined {
  const nwk = u16(0);
  switch (request) {
    case zdo.networkAddress:
    case zdo.ieeeAddress:
      return Buffer.concat([success, own.wireAddress, nwk, Buffer.alloc(2)]);
    case zdo.nodeDescriptor:
      return nodeDescriptor(nwk, [0x00, 0x40, 0x8f], own.manufacturer_code);
    case zdo.simpleDescriptor:
      return simpleDescriptor(
        nwk,
        own.endpoints.find(({ id }) => id === fields.readUInt8(2)),
      );
    case zdo.activeEndpoints:
      return activeEndpoints(
        nwk,
        own.endpoints.map(({ id }) => id),
      );
    case zdo.lqi:
      return neighbourTable(own.neighbours, fields.readUInt8(0));
    case zdo.networkUpdate:
      return energyReport(own.energies, fields.readUInt32LE(0));
    default:
      return undefined;
  }
}

/** Neighbours in one answer: as many as fit into a frame. */
const neighbours_max = 2;
const kinds: readonly Neighbour["kind"][] = ["coordinator", "router", "sleeper"];
const relations: readonly Neighbour["relation"][] = ["parent", "child", "sibling"];

/** Status, how many there are, the first and how many of them follow, and these: Mgmt_Lqi_rsp (Zigbee specification 2.4.4.4.2). */
function neighbourTable(all: readonly Neighbour[], first: number): Buffer {
  const page = all.slice(first, first + neighbours_max);
  const entries = page.map(({ wireAddress, nwk, kind, relation, quality }) =>
    Buffer.concat([
      Buffer.alloc(8, 0xdd),
      wireAddress,
      u16(nwk),
      Buffer.from([
        kinds.indexOf(kind) | (kind === "sleeper" ? 0 : 1 << 2) | (relations.indexOf(relation) << 4),
        0x02,
        relation === "child" ? 1 : 0,
        quality,
      ]),
    ]),
  );
  return Buffer.concat([success, Buffer.from([all.length, first, page.length]), ...entries]);
}

/** The channel to which a request has everybody change; undefined where it asks for a measurement. */
export function changedChannel(fields: Buffer): number | undefined {
  if (fields.readUInt8(4) !== channelChange) return undefined;
  return 31 - Math.clz32(fields.readUInt32LE(0));
}

const channelChange = 0xfe;

/** Status, channels, transmissions and failures, how many values follow, and these: Mgmt_NWK_Update_notify (Zigbee specification 2.4.4.4.9). */
function energyReport(energies: readonly number[], channels: number): Buffer {
  const asked = energies.filter((_, index) => ((channels >>> (index + 11)) & 1) === 1);
  const mask = Buffer.alloc(4);
  mask.writeUInt32LE(channels);
  return Buffer.concat([success, mask, u16(0), u16(0), Buffer.from([asked.length, ...asked])]);
}

function nodeDescriptor(nwk: Buffer, kind: readonly number[], manufacturer: number): Buffer {
  return Buffer.concat([
    success,
    nwk,
    Buffer.from(kind),
    u16(manufacturer),
    Buffer.from("52ff000000ff0000", "hex"),
  ]);
}

function simpleDescriptor(nwk: Buffer, endpoint: OwnEndpoint | undefined): Buffer {
  if (endpoint === undefined) return refusal(nwk);
  const { id, profile, device_id, input, output = [] } = endpoint;
  const body = Buffer.concat([
    Buffer.from([id]),
    u16(profile),
    u16(device_id),
    Buffer.from([0, input.length]),
    ...input.map(u16),
    Buffer.from([output.length]),
    ...output.map(u16),
  ]);
  return Buffer.concat([success, nwk, Buffer.from([body.length]), body]);
}

function activeEndpoints(nwk: Buffer, ids: readonly number[]): Buffer {
  return Buffer.concat([success, nwk, Buffer.from([ids.length, ...ids])]);
}
