import { decodeUuid, encodeUuid } from "./uuid.ts";

/**
 * The Attribute Protocol, Core 5.4, Vol 3, Part F: the units that GATT needs, without those for signed, queued
 * and multiple values. Handles are 1 to 65,535; values are bytes as they stand.
 */
export type AttUnit =
  /** 3.4.1.1: what became of the request with opcode `request`. */
  | { readonly op: "error"; readonly request: number; readonly handle: number; readonly code: number }
  /** 3.4.2. */
  | { readonly op: "mtuRequest"; readonly mtu: number }
  | { readonly op: "mtuResponse"; readonly mtu: number }
  /** 3.4.3.1 and 3.4.3.2: types of attributes. */
  | { readonly op: "findInformationRequest"; readonly start: number; readonly end: number }
  | {
      readonly op: "findInformationResponse";
      readonly entries: readonly { readonly handle: number; readonly uuid: string }[];
    }
  /** 3.4.4.1 and 3.4.4.2; the values of one response are equally long. */
  | RangeRequest<"readByTypeRequest">
  | {
      readonly op: "readByTypeResponse";
      readonly entries: readonly { readonly handle: number; readonly value: Uint8Array }[];
    }
  /** 3.4.4.9 and 3.4.4.10. */
  | RangeRequest<"readByGroupRequest">
  | { readonly op: "readByGroupResponse"; readonly entries: readonly AttributeGroup[] }
  /** 3.4.4.3 to 3.4.4.6. */
  | { readonly op: "readRequest"; readonly handle: number }
  | { readonly op: "readBlobRequest"; readonly handle: number; readonly offset: number }
  | { readonly op: "readResponse"; readonly value: Uint8Array }
  | { readonly op: "readBlobResponse"; readonly value: Uint8Array }
  /** 3.4.5.1 to 3.4.5.3; a command has no response. */
  | HandleValue<"writeRequest">
  | { readonly op: "writeResponse" }
  | HandleValue<"writeCommand">
  /** 3.4.7: a confirmation answers an indication. */
  | HandleValue<"notification">
  | HandleValue<"indication">
  | { readonly op: "confirmation" };

interface HandleValue<Op extends string> {
  readonly op: Op;
  readonly handle: number;
  readonly value: Uint8Array;
}

interface RangeRequest<Op extends string> {
  readonly op: Op;
  readonly start: number;
  readonly end: number;
  readonly uuid: string;
}

/** Attributes that belong together, `handle` to `end`; for a service, `value` is its UUID as bytes. */
export interface AttributeGroup {
  readonly handle: number;
  readonly end: number;
  readonly value: Uint8Array;
}

/** 3.4.8. */
const opcodes: Readonly<Record<AttUnit["op"], number>> = {
  error: 0x01,
  mtuRequest: 0x02,
  mtuResponse: 0x03,
  findInformationRequest: 0x04,
  findInformationResponse: 0x05,
  readByTypeRequest: 0x08,
  readByTypeResponse: 0x09,
  readRequest: 0x0a,
  readResponse: 0x0b,
  readBlobRequest: 0x0c,
  readBlobResponse: 0x0d,
  readByGroupRequest: 0x10,
  readByGroupResponse: 0x11,
  writeRequest: 0x12,
  writeResponse: 0x13,
  notification: 0x1b,
  indication: 0x1d,
  confirmation: 0x1e,
  writeCommand: 0x52,
};
const opByCode = new Map(Object.entries(opcodes).map(([op, code]) => [code, op as AttUnit["op"]]));

/** 3.4.1.1, with those of GATT. */
export const attError = {
  invalidHandle: 0x01,
  readNotPermitted: 0x02,
  writeNotPermitted: 0x03,
  invalidUnit: 0x04,
  insufficientAuthentication: 0x05,
  notSupported: 0x06,
  invalidOffset: 0x07,
  notFound: 0x0a,
  notLong: 0x0b,
  unlikely: 0x0e,
  insufficientEncryption: 0x0f,
  unsupportedGroup: 0x10,
} as const;

export const mtu_least = 23;

export function encodeAtt(unit: AttUnit): Buffer {
  return Buffer.concat([Uint8Array.of(opcodes[unit.op]), bodyOf(unit)]);
}

function bodyOf(unit: AttUnit): Uint8Array {
  switch (unit.op) {
    case "error":
      return Buffer.concat([Uint8Array.of(unit.request), u16(unit.handle), Uint8Array.of(unit.code)]);
    case "mtuRequest":
    case "mtuResponse":
      return u16(unit.mtu);
    case "findInformationRequest":
      return u16(unit.start, unit.end);
    case "findInformationResponse": {
      const entries = unit.entries.map(({ handle, uuid }) => Buffer.concat([u16(handle), encodeUuid(uuid)]));
      return Buffer.concat([Uint8Array.of(entries[0]?.length === 4 ? 1 : 2), ...entries]);
    }
    case "readByTypeRequest":
    case "readByGroupRequest":
      return Buffer.concat([u16(unit.start, unit.end), encodeUuid(unit.uuid)]);
    case "readByTypeResponse":
      return listOf(unit.entries.map(({ handle, value }) => Buffer.concat([u16(handle), value])));
    case "readByGroupResponse":
      return listOf(unit.entries.map(({ handle, end, value }) => Buffer.concat([u16(handle, end), value])));
    case "readRequest":
      return u16(unit.handle);
    case "readBlobRequest":
      return u16(unit.handle, unit.offset);
    case "readResponse":
    case "readBlobResponse":
      return unit.value;
    case "writeRequest":
    case "writeCommand":
    case "notification":
    case "indication":
      return Buffer.concat([u16(unit.handle), unit.value]);
    case "writeResponse":
    case "confirmation":
      return new Uint8Array(0);
  }
}

/** Undefined for an opcode that is not above, and for a unit that is shorter than its opcode needs. */
export function decodeAtt(bytes: Uint8Array): AttUnit | undefined {
  const op = opByCode.get(bytes[0] ?? 0);
  const body = Buffer.from(bytes.subarray(1));
  if (op === undefined || body.length < (body_bytes_least[op] ?? 0)) return undefined;
  switch (op) {
    case "error":
      return { op, request: body.readUInt8(0), handle: body.readUInt16LE(1), code: body.readUInt8(3) };
    case "mtuRequest":
    case "mtuResponse":
      return { op, mtu: body.readUInt16LE(0) };
    case "findInformationRequest":
      return { op, start: body.readUInt16LE(0), end: body.readUInt16LE(2) };
    case "findInformationResponse": {
      const entry_bytes = body[0] === 1 ? 4 : 18;
      const entries = pieces(body.subarray(1), entry_bytes).map((entry) => ({
        handle: entry.readUInt16LE(0),
        uuid: decodeUuid(entry.subarray(2)),
      }));
      return { op, entries };
    }
    case "readByTypeRequest":
    case "readByGroupRequest":
      if (body.length !== 6 && body.length !== 20) return undefined;
      return {
        op,
        start: body.readUInt16LE(0),
        end: body.readUInt16LE(2),
        uuid: decodeUuid(body.subarray(4)),
      };
    case "readByTypeResponse": {
      const entries = pieces(body.subarray(1), body.readUInt8(0)).map((entry) => ({
        handle: entry.readUInt16LE(0),
        value: bytesOf(entry.subarray(2)),
      }));
      return body.readUInt8(0) < 2 ? undefined : { op, entries };
    }
    case "readByGroupResponse": {
      if (body.readUInt8(0) < 4) return undefined;
      const entries = pieces(body.subarray(1), body.readUInt8(0)).map((entry) => ({
        handle: entry.readUInt16LE(0),
        end: entry.readUInt16LE(2),
        value: bytesOf(entry.subarray(4)),
      }));
      return { op, entries };
    }
    case "readRequest":
      return { op, handle: body.readUInt16LE(0) };
    case "readBlobRequest":
      return { op, handle: body.readUInt16LE(0), offset: body.readUInt16LE(2) };
    case "readResponse":
    case "readBlobResponse":
      return { op, value: bytesOf(body) };
    case "writeRequest":
    case "writeCommand":
      return { op, handle: body.readUInt16LE(0), value: bytesOf(body.subarray(2)) };
    case "notification":
    case "indication":
      return { op, handle: body.readUInt16LE(0), value: bytesOf(body.subarray(2)) };
    case "writeResponse":
    case "confirmation":
      return { op };
  }
}

const body_bytes_least: Readonly<Partial<Record<AttUnit["op"], number>>> = {
  error: 4,
  mtuRequest: 2,
  mtuResponse: 2,
  findInformationRequest: 4,
  findInformationResponse: 1,
  readByTypeRequest: 6,
  readByTypeResponse: 1,
  readRequest: 2,
  readBlobRequest: 4,
  readByGroupRequest: 6,
  readByGroupResponse: 1,
  writeRequest: 2,
  writeCommand: 2,
  notification: 2,
  indication: 2,
};

/** The opcode of a unit, as an error response repeats it. */
export function opcodeOf(op: AttUnit["op"]): number {
  return opcodes[op];
}

/** A list whose entries are equally long, after their length. */
function listOf(entries: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([Uint8Array.of(entries[0]?.length ?? 0), ...entries]);
}

function pieces(bytes: Buffer, piece_bytes: number): Buffer[] {
  if (piece_bytes < 2) return [];
  const count = Math.floor(bytes.length / piece_bytes);
  return Array.from({ length: count }, (_, at) => bytes.subarray(at * piece_bytes, (at + 1) * piece_bytes));
}

function u16(...numbers: number[]): Uint8Array {
  return Uint8Array.from(numbers.flatMap((number) => [number & 0xff, number >> 8]));
}

function bytesOf(part: Buffer): Uint8Array {
  return new Uint8Array(part);
}
