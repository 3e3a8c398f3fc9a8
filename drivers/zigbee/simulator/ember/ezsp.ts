import { u16 } from "../device.ts";
import { reversed } from "../nv.ts";
import type { OwnEndpoint } from "../zdo.ts";

/** Numbers of frames. Source: Silicon Labs UG100, EZSP reference guide, of EmberZNet 7.4 (version 13). */
export const ezsp = {
  version: 0x00,
  trustCentreJoin: 0x24,
  stackStatus: 0x19,
  scanComplete: 0x1c,
  energyScanResult: 0x48,
  messageSent: 0x3f,
  incomingMessage: 0x45,
  invalidCommand: 0x58,
  /** Not a frame of EZSP: the reset by ASH, for those who are told of each request. */
  reset: -1,
} as const;

/** Values of EmberStatus, and of EzspStatus for the last. */
export const status = {
  success: 0x00,
  deliveryFailed: 0x66,
  networkUp: 0x90,
  networkDown: 0x91,
  notJoined: 0x93,
  networkOpened: 0x9c,
  invalidCommand: 0x36,
  libraryNotPresent: 0xb5,
} as const;

/** The memory of a stick with EmberZNet that survives its restarts. The extended PAN id as it stands on the wire. */
export interface EmberNetwork {
  readonly pan_id: number;
  readonly extended_pan_id: Buffer;
  readonly channel: number;
  readonly key: Buffer;
  readonly trustCentreKey: Buffer;
  readonly frameCounter: number;
}

/** Where an APS message comes from and goes to, as EZSP has it: 11 bytes. */
export interface ApsFrame {
  readonly profile: number;
  readonly cluster: number;
  readonly from: number;
  readonly to: number;
}

/** The stick whose host commands it. */
interface Stick {
  readonly version: number;
  readonly eui: Buffer;
  readonly endpoints: OwnEndpoint[];
  held: EmberNetwork | undefined;
  up: boolean;
  manufacturer_code: number;
  readonly energies: readonly number[];
  restoredAddress: Buffer | undefined;
  readonly setsAddress: boolean;
  /** The keys and the frame counter of the network to be formed. */
  readonly next: { key: Buffer; trustCentreKey: Buffer; frameCounter: number };
  openJoining(seconds: number): void;
  callback(id: number, parameters: Uint8Array): boolean;
  takeMessage(destination: number, aps: ApsFrame, payload: Buffer): boolean;
}

/** An answer, and what the stick does once it is sent. */
interface Answer {
  readonly answer: Uint8Array;
  readonly after?: () => void;
}

type Handler = (stick: Stick, parameters: Buffer) => Answer;

const ok = Buffer.from([status.success]);
const ok32 = Buffer.alloc(4);
const accept: Handler = () => ({ answer: ok });
const silent: Handler = () => ({ answer: Buffer.alloc(0) });

/** Commands that a host sends, by the number of their frame. */
export const ezspCommands: Readonly<Record<number, Handler>> = {
  // Version, stack type (mesh), version of the stack.
  0: ({ version }) => ({ answer: Buffer.concat([Buffer.from([version, 2]), u16(0x7440)]) }),
  2: addEndpoint,
  // Get extended value: flags of an endpoint.
  3: (stick, parameters) => {
    const known = stick.endpoints.some(({ id }) => id === parameters.readUInt32LE(1));
    return { answer: Buffer.from([known ? status.success : 0x35, 2, known ? 1 : 0, 0]) };
  },
  // Concentrator, manufacturer code, radio power.
  16: accept,
  21: (stick, parameters) => {
    stick.manufacturer_code = parameters.readUInt16LE(0);
    return { answer: Buffer.alloc(0) };
  },
  23: networkInit,
  24: ({ up }) => ({ answer: Buffer.from([up ? 2 : 0]) }),
  26: startScan,
  30: formNetwork,
  32: leaveNetwork,
  34: permitJoining,
  38: ({ eui }) => ({ answer: reversed(eui) }),
  40: networkParameters,
  52: sendUnicast,
  54: sendBroadcast,
  // Configuration values, policies.
  82: () => ({ answer: Buffer.concat([ok, u16(12)]) }),
  83: accept,
  85: accept,
  90: () => ({ answer: Buffer.alloc(4) }),
  100: accept,
  101: () => ({ answer: Buffer.alloc(counters * 2) }),
  104: (stick, parameters) => {
    stick.next.trustCentreKey = Buffer.from(parameters.subarray(2, 18));
    stick.next.key = Buffer.from(parameters.subarray(18, 34));
    return { answer: ok };
  },
  107: silent,
  118: accept,
  170: getValue,
  171: setValue,
  177: accept,
  259: setToken,
  // Keys: import a link key, import a transient key, export, information on the network's.
  270: () => ({ answer: ok32 }),
  273: () => ({ answer: ok32 }),
  276: exportKey,
  278: ({ held }) => {
    const counter = Buffer.alloc(4);
    counter.writeUInt32LE(held?.frameCounter ?? 0);
    return { answer: Buffer.concat([ok32, Buffer.from([held === undefined ? 0 : 1, 0, 0, 0]), counter]) };
  },
};

/** Counters of the stack, 16 bits each. */
const counters = 42;
/** Value ids: version of the firmware; the frame counter of the network key. */
const value = { versionInfo: 0x11, frameCounter: 0x23 } as const;
const networkKeyType = 1;

/** endpoint u8, profile u16, device u16, version u8, counts u8 u8, clusters u16. */
function addEndpoint(stick: Stick, parameters: Buffer): Answer {
  const clusters = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => parameters.readUInt16LE(8 + (from + index) * 2));
  const [inputs, outputs] = [parameters.readUInt8(6), parameters.readUInt8(7)];
  stick.endpoints.push({
    id: parameters.readUInt8(0),
    profile: parameters.readUInt16LE(1),
    device_id: parameters.readUInt16LE(3),
    input: clusters(0, inputs),
    output: clusters(inputs, outputs),
  });
  return { answer: ok };
}

function networkInit(stick: Stick): Answer {
  if (stick.held === undefined) return { answer: Buffer.from([status.notJoined]) };
  return { answer: ok, after: () => comeUp(stick) };
}

function comeUp(stick: Stick): void {
  stick.up = true;
  stick.callback(ezsp.stackStatus, Buffer.from([status.networkUp]));
}

/** extended PAN id, PAN id u16, power, channel, join method, manager u16, update id, channels u32. */
function formNetwork(stick: Stick, parameters: Buffer): Answer {
  stick.held = {
    extended_pan_id: Buffer.from(parameters.subarray(0, 8)),
    pan_id: parameters.readUInt16LE(8),
    channel: parameters.readUInt8(11),
    ...stick.next,
  };
  return { answer: ok, after: () => comeUp(stick) };
}

/** token u32, index u32, size u32, data. Status: library not present, where the firmware keeps no such tokens. */
function setToken(stick: Stick, parameters: Buffer): Answer {
  if (!stick.setsAddress || parameters.readUInt32LE(0) !== restoredAddress)
    return { answer: Buffer.from([status.libraryNotPresent]) };
  stick.restoredAddress = reversed(parameters.subarray(12, 20));
  return { answer: ok };
}

/** NVM3KEY_STACK_RESTORED_EUI64. */
const restoredAddress = 0x1_e12a;

/** kind u8, channels u32, duration u8. Status u32; then for each channel its number and the signal in dBm, and at the end a channel and a status. */
function startScan(stick: Stick): Answer {
  return {
    answer: ok32,
    after: () => {
      for (const [index, energy] of stick.energies.entries())
        stick.callback(ezsp.energyScanResult, Buffer.from([index + 11, (energy * 75) / 255 - 100]));
      stick.callback(ezsp.scanComplete, Buffer.from([0, status.success]));
    },
  };
}

function leaveNetwork(stick: Stick): Answer {
  if (!stick.up) return { answer: Buffer.from([status.notJoined]) };
  return {
    answer: ok,
    after: () => {
      stick.up = false;
      stick.held = undefined;
      stick.callback(ezsp.stackStatus, Buffer.from([status.networkDown]));
    },
  };
}

function permitJoining(stick: Stick, parameters: Buffer): Answer {
  const seconds = parameters.readUInt8(0);
  stick.openJoining(seconds);
  return { answer: ok };
}

function networkParameters({ held, up }: Stick): Answer {
  const { extended_pan_id, pan_id, channel } = held ?? {
    extended_pan_id: Buffer.alloc(8),
    pan_id: 0xffff,
    channel: 0,
  };
  const channels = Buffer.alloc(4);
  channels.writeUInt32LE(0x07fff800);
  return {
    answer: Buffer.concat([
      Buffer.from([up ? status.success : status.notJoined, 1]),
      extended_pan_id,
      u16(pan_id),
      Buffer.from([5, channel, 0]),
      u16(0),
      Buffer.from([0]),
      channels,
    ]),
  };
}

/** type u8, destination u16, APS frame, tag u8, length u8, payload. */
function sendUnicast(stick: Stick, parameters: Buffer): Answer {
  const destination = parameters.readUInt16LE(1);
  const aps = decodeAps(parameters.subarray(3));
  const tag = parameters.readUInt8(3 + aps_bytes);
  const payload = parameters.subarray(5 + aps_bytes);
  return {
    answer: Buffer.from([status.success, tag]),
    after: () => {
      const taken = stick.takeMessage(destination, aps, payload);
      stick.callback(
        ezsp.messageSent,
        Buffer.concat([
          Buffer.from([0]),
          u16(destination),
          encodeAps(aps),
          Buffer.from([tag, taken ? status.success : status.deliveryFailed, 0]),
        ]),
      );
    },
  };
}

/** destination u16, APS frame, radius u8, tag u8, length u8, payload. */
function sendBroadcast(stick: Stick, parameters: Buffer): Answer {
  const aps = decodeAps(parameters.subarray(2));
  const payload = parameters.subarray(5 + aps_bytes);
  return {
    answer: Buffer.from([status.success, 0]),
    after: () => {
      stick.takeMessage(parameters.readUInt16LE(0), aps, payload);
    },
  };
}

/** build u16, 7.4.4, special, general availability. */
function getValue(_stick: Stick, parameters: Buffer): Answer {
  if (parameters.readUInt8(0) !== value.versionInfo) return { answer: Buffer.from([0x35, 0]) };
  return { answer: Buffer.from([status.success, 7, 0, 0, 7, 4, 4, 0, 0xaa]) };
}

function setValue(stick: Stick, parameters: Buffer): Answer {
  if (parameters.readUInt8(0) === value.frameCounter) stick.next.frameCounter = parameters.readUInt32LE(2);
  return { answer: ok };
}

/** The context of a key begins with its type. Key, status u32. */
function exportKey({ held }: Stick, parameters: Buffer): Answer {
  const key = parameters.readUInt8(0) === networkKeyType ? held?.key : held?.trustCentreKey;
  return { answer: Buffer.concat([key ?? Buffer.alloc(16), ok32]) };
}

/** Profile, cluster, endpoints, options, group and sequence number. */
export function encodeAps({ profile, cluster, from, to }: ApsFrame): Buffer {
  return Buffer.concat([u16(profile), u16(cluster), Buffer.from([from, to]), Buffer.alloc(5)]);
}

export function decodeAps(bytes: Buffer): ApsFrame {
  return {
    profile: bytes.readUInt16LE(0),
    cluster: bytes.readUInt16LE(2),
    from: bytes.readUInt8(4),
    to: bytes.readUInt8(5),
  };
}

export const aps_bytes = 11;
