import { decodeAddress, encodeAddress } from "./address.ts";
import { packetType } from "./h4.ts";

/** Packets of the Host Controller Interface with their H4 type. Core 5.4, Vol 4, Part E; sections are cited. */

/** Opcodes, OGF << 10 | OCF. */
export const opcode = {
  disconnect: 0x0406,
  setEventMask: 0x0c01,
  reset: 0x0c03,
  readLeHostSupport: 0x0c6c,
  writeLeHostSupport: 0x0c6d,
  readLocalVersion: 0x1001,
  readSupportedCommands: 0x1002,
  readLocalFeatures: 0x1003,
  readBufferSize: 0x1005,
  readAddress: 0x1009,
  readRssi: 0x1405,
  leSetEventMask: 0x2001,
  leReadBufferSize: 0x2002,
  leReadFeatures: 0x2003,
  leSetScanParameters: 0x200b,
  leSetScanEnable: 0x200c,
  leCreateConnection: 0x200d,
  leCancelConnection: 0x200e,
  leUpdateConnection: 0x2013,
  leStartEncryption: 0x2019,
  leReadSupportedStates: 0x201c,
  leSetDataLength: 0x2022,
  leReadMaxDataLength: 0x202f,
  leEnableAdvertisingSets: 0x2039,
  leReadAdvertisingSets: 0x203b,
  leRemoveAdvertisingSet: 0x203c,
  leClearAdvertisingSets: 0x203d,
} as const;

export const eventCode = {
  disconnectionComplete: 0x05,
  encryptionChange: 0x08,
  commandComplete: 0x0e,
  commandStatus: 0x0f,
  hardwareError: 0x10,
  completedPackets: 0x13,
  keyRefreshed: 0x30,
  leMeta: 0x3e,
} as const;

export const leEvent = {
  connectionComplete: 0x01,
  advertisingReport: 0x02,
  connectionUpdateComplete: 0x03,
} as const;

/** Error codes, Vol 1, Part F, 1.3. */
export const status = {
  success: 0x00,
  unknownCommand: 0x01,
  unknownConnection: 0x02,
  keyMissing: 0x06,
  remoteEnded: 0x13,
  localEnded: 0x16,
  disallowed: 0x0c,
  connectionTimeout: 0x08,
  wrongKey: 0x3d,
} as const;

/** Vol 4, Part E, 5.4.1. */
export function encodeCommand(code: number, parameters: Uint8Array = none): Buffer {
  return Buffer.concat([
    Uint8Array.of(packetType.command, code & 0xff, code >> 8, parameters.length),
    parameters,
  ]);
}

export function decodeCommand(packet: Buffer): { opcode: number; parameters: Buffer } {
  return { opcode: packet.readUInt16LE(1), parameters: packet.subarray(4) };
}

/** Vol 4, Part E, 5.4.4. */
export function encodeEvent(code: number, parameters: Uint8Array): Buffer {
  return Buffer.concat([Uint8Array.of(packetType.event, code, parameters.length), parameters]);
}

export function decodeEvent(packet: Buffer): { code: number; parameters: Buffer } {
  return { code: packet.readUInt8(1), parameters: packet.subarray(3) };
}

/** How a command was answered: `credits` commands may be sent now. 7.7.14 and 7.7.15. */
export interface CommandAnswer {
  readonly opcode: number;
  readonly credits: number;
  readonly status: number;
}

/** Command Complete, 7.7.14: the status and what else is returned. */
export function encodeCommandComplete(
  { opcode: of, credits, status: said }: CommandAnswer,
  more: Uint8Array = none,
): Buffer {
  return encodeEvent(
    eventCode.commandComplete,
    Buffer.concat([Uint8Array.of(credits, of & 0xff, of >> 8, said), more]),
  );
}

/** Command Status, 7.7.15: the command is under way, or refused. */
export function encodeCommandStatus({ opcode: of, credits, status: said }: CommandAnswer): Buffer {
  return encodeEvent(eventCode.commandStatus, Uint8Array.of(said, credits, of & 0xff, of >> 8));
}

/** The answer that an event packet is, or undefined when it is another event or too short. */
export function decodeCommandAnswer(packet: Buffer): CommandAnswer | undefined {
  if (packet[0] !== packetType.event) return undefined;
  const { code, parameters } = decodeEvent(packet);
  if (code === eventCode.commandComplete && parameters.length >= 3) {
    return {
      credits: parameters.readUInt8(0),
      opcode: parameters.readUInt16LE(1),
      status: parameters[3] ?? status.success,
    };
  }
  if (code === eventCode.commandStatus && parameters.length >= 4) {
    return {
      status: parameters.readUInt8(0),
      credits: parameters.readUInt8(1),
      opcode: parameters.readUInt16LE(2),
    };
  }
  return undefined;
}

/** One piece of a link's data: `first` starts an L2CAP frame. 5.4.2. */
export interface AclPacket {
  readonly handle: number;
  readonly first: boolean;
  readonly data: Uint8Array;
}

/** Packet boundary 0b10 begins a frame towards the host, 0b00 towards the controller; 0b01 goes on. */
export function encodeAcl({ handle, first, data }: AclPacket, to: "host" | "controller"): Buffer {
  const boundary = first ? (to === "host" ? 0b10 : 0b00) : 0b01;
  const head = Buffer.alloc(5);
  head.writeUInt8(packetType.acl, 0);
  head.writeUInt16LE(handle | (boundary << 12), 1);
  head.writeUInt16LE(data.length, 3);
  return Buffer.concat([head, data]);
}

export function decodeAcl(packet: Buffer): AclPacket {
  const head = packet.readUInt16LE(1);
  return { handle: head & 0x0fff, first: ((head >> 12) & 0b11) !== 0b01, data: packet.subarray(5) };
}

/** A scanner's report of one packet. */
export interface Report {
  readonly kind: "connectable" | "directed" | "scannable" | "nonconnectable" | "scanResponse";
  readonly address: string;
  readonly addressType: "public" | "random";
  readonly data: Uint8Array;
  readonly rssi: number;
}

export const reportKinds: Readonly<Record<Report["kind"], number>> = {
  connectable: 0x00,
  directed: 0x01,
  scannable: 0x02,
  nonconnectable: 0x03,
  scanResponse: 0x04,
};

const kindsByCode = new Map(
  Object.entries(reportKinds).map(([kind, code]) => [code, kind as Report["kind"]] as const),
);

/** LE Advertising Report with one report, 7.7.65.2. */
export function encodeAdvertisingReport(report: Report): Buffer {
  return encodeEvent(
    eventCode.leMeta,
    Buffer.concat([
      Uint8Array.of(leEvent.advertisingReport, 1, reportKinds[report.kind], addressTypeOf(report)),
      encodeAddress(report.address),
      Uint8Array.of(report.data.length),
      report.data,
      Uint8Array.of(report.rssi & 0xff),
    ]),
  );
}

/**
 * The reports of an LE Advertising Report. Undefined for another event, and for one whose lengths do not fit or whose
 * kinds are unknown.
 */
export function decodeAdvertisingReports(packet: Buffer): Report[] | undefined {
  if (!isAdvertisingReport(packet)) return undefined;
  const { parameters } = decodeEvent(packet);
  const reports: Report[] = [];
  let at = 2;
  for (let left = parameters[1] ?? 0; left > 0; left -= 1) {
    const [kind, addressType = 0] = parameters.subarray(at, at + 2);
    const known = kindsByCode.get(kind ?? -1);
    const end = at + 9 + (parameters[at + 8] ?? 0);
    if (known === undefined || end >= parameters.length) return undefined;
    reports.push({
      kind: known,
      address: decodeAddress(parameters.subarray(at + 2, at + 8)),
      addressType: addressType === 0 ? "public" : "random",
      data: new Uint8Array(parameters.subarray(at + 9, end)),
      rssi: parameters.readInt8(end),
    });
    at = end + 1;
  }
  return at === parameters.length && reports.length > 0 ? reports : undefined;
}

export function isAdvertisingReport(packet: Buffer): boolean {
  const [type, code, , subevent] = packet;
  return type === packetType.event && code === eventCode.leMeta && subevent === leEvent.advertisingReport;
}

/** LE Connection Complete, 7.7.65.1; a failure carries only its status. */
export function encodeConnectionComplete(link: {
  status: number;
  handle: number;
  address: string;
  addressType: "public" | "random";
}): Buffer {
  const data = Buffer.alloc(19);
  data.set([leEvent.connectionComplete, link.status], 0);
  if (link.status === status.success) {
    data.writeUInt16LE(link.handle, 2);
    data.writeUInt8(0, 4); // we are the central
    data.writeUInt8(addressTypeOf(link), 5);
    data.set(encodeAddress(link.address), 6);
    data.writeUInt16LE(24, 12); // interval × 1.25 ms
    data.writeUInt16LE(0, 14);
    data.writeUInt16LE(42, 16); // supervision timeout × 10 ms
  }
  return encodeEvent(eventCode.leMeta, data);
}

/** Disconnection Complete, 7.7.5. */
export function encodeDisconnectionComplete(handle: number, reason: number): Buffer {
  return encodeEvent(
    eventCode.disconnectionComplete,
    Uint8Array.of(status.success, handle & 0xff, handle >> 8, reason),
  );
}

/** Number Of Completed Packets for one link, 7.7.19. */
export function encodeCompletedPackets(handle: number, count: number): Buffer {
  return encodeEvent(
    eventCode.completedPackets,
    Uint8Array.of(1, handle & 0xff, handle >> 8, count & 0xff, count >> 8),
  );
}

/** Whom the host wants to connect to: LE Create Connection, 7.8.12. */
export function decodeCreateConnection(parameters: Buffer): string {
  return decodeAddress(parameters.subarray(6));
}

/** LE Enable Encryption, 7.8.24: the link, and the key with the name by which the device finds it, each as the toolbox has it. */
export function encodeStartEncryption(
  handle: number,
  key: { readonly value: Uint8Array; readonly diversifier: number; readonly random: Uint8Array },
): Buffer {
  const { value, diversifier, random } = key;
  const parameters = Buffer.alloc(28);
  parameters.writeUInt16LE(handle, 0);
  parameters.set(random.toReversed(), 2);
  parameters.writeUInt16LE(diversifier, 10);
  parameters.set(value.toReversed(), 12);
  return encodeCommand(opcode.leStartEncryption, parameters);
}

export function decodeStartEncryption(parameters: Buffer) {
  return {
    handle: parameters.readUInt16LE(0),
    random: new Uint8Array(parameters.subarray(2, 10)).reverse(),
    diversifier: parameters.readUInt16LE(10),
    value: new Uint8Array(parameters.subarray(12, 28)).reverse(),
  };
}

/** How the encryption of a link was begun, 7.7.8, or its key renewed, 7.7.39. */
export interface EncryptionChange {
  readonly handle: number;
  /** 0 when the link is encrypted now. */
  readonly status: number;
}

export function encodeEncryptionChange({ handle, status: said }: EncryptionChange): Buffer {
  const on = said === status.success ? 1 : 0;
  return encodeEvent(eventCode.encryptionChange, Uint8Array.of(said, handle & 0xff, handle >> 8, on));
}

export function encodeKeyRefreshed({ handle, status: said }: EncryptionChange): Buffer {
  return encodeEvent(eventCode.keyRefreshed, Uint8Array.of(said, handle & 0xff, handle >> 8));
}

/** Undefined for another event, and for one that is cut short. */
export function decodeEncryptionChange(packet: Buffer): EncryptionChange | undefined {
  if (packet[0] !== packetType.event) return undefined;
  const { code, parameters } = decodeEvent(packet);
  const changed = code === eventCode.encryptionChange && parameters.length >= 4;
  if (!changed && (code !== eventCode.keyRefreshed || parameters.length < 3)) return undefined;
  const said = parameters.readUInt8(0);
  const off = changed && said === status.success && parameters.readUInt8(3) === 0;
  return { handle: parameters.readUInt16LE(1) & 0x0fff, status: off ? status.disallowed : said };
}

function addressTypeOf({ addressType }: { addressType: "public" | "random" }): number {
  return addressType === "random" ? 1 : 0;
}

const none = new Uint8Array(0);
