/**
 * The link protocol of the radio bridge for polled pill boxes, version 1: payloads of requests and replies,
 * without the frames around them. Numbers are little-endian; README.md has the tables.
 */

export const payload_max_bytes = 1_024;

export const requestType = { status: 0x01, events: 0x02, setClock: 0x03, list: 0x04 } as const;
/** Set in the type of a reply. */
export const replyBit = 0x80;

export const result = { ok: 0, radioOff: 1, unknownBox: 2, badRequest: 3 } as const;

export type Request =
  | { readonly type: typeof requestType.status; readonly mac: string }
  | {
      readonly type: typeof requestType.events;
      readonly mac: string;
      readonly after: number;
      readonly max: number;
    }
  | { readonly type: typeof requestType.setClock; readonly mac: string; readonly unix_s: number }
  | { readonly type: typeof requestType.list };

/** When a box on battery has its radio on next, by its own clock, in seconds. */
export interface Window {
  readonly nextpanicstart: number;
  readonly nextpanicstop: number;
}

export interface Status extends Window {
  /** The box's own clock, in seconds. */
  readonly devicestamp: number;
  readonly voltage_mv: number;
  readonly power: "battery" | "external_power";
  readonly eventcount: number;
  readonly batteryseconds: number;
  /** Changes when the box restarts. */
  readonly boot: number;
  readonly firmware: string;
}

export interface BoxEvent {
  /** Rises by one with each event of a box. */
  readonly seq: number;
  /** The box's own clock at the event, in seconds. */
  readonly stamp: number;
  /** Bit p: door p is open. */
  readonly doors: number;
}

export interface Events {
  readonly devicestamp: number;
  readonly boot: number;
  /** The first and the last event in the buffer. */
  readonly oldest: number;
  readonly newest: number;
  readonly events: readonly BoxEvent[];
}

export type Reply =
  | { readonly type: "status"; readonly mac: string; readonly result: 0; readonly status: Status }
  | { readonly type: "status"; readonly mac: string; readonly result: 1; readonly window: Window }
  | { readonly type: "events"; readonly mac: string; readonly result: 0; readonly events: Events }
  | { readonly type: "status"; readonly mac: string; readonly result: number }
  | { readonly type: "events"; readonly mac: string; readonly result: number }
  | { readonly type: "setClock"; readonly mac: string; readonly result: number }
  | { readonly type: "list"; readonly boxes: readonly { readonly mac: string; readonly rssi_dbm: number }[] };

export function encodeRequest(request: Request, tag: number): Uint8Array {
  const head = [request.type, tag];
  switch (request.type) {
    case requestType.list:
      return Uint8Array.from(head);
    case requestType.status:
      return Uint8Array.from([...head, ...macBytes(request.mac)]);
    case requestType.events:
      return Uint8Array.from([...head, ...macBytes(request.mac), ...u32(request.after), ...u16(request.max)]);
    case requestType.setClock:
      return Uint8Array.from([...head, ...macBytes(request.mac), ...u32(request.unix_s)]);
  }
}

/** Undefined when the payload is no request. */
export function decodeRequest(
  payload: Uint8Array,
): { readonly tag: number; readonly request: Request } | undefined {
  const body = new Body(payload);
  const type = body.u8();
  const tag = body.u8();
  const request = requestOf(type, body);
  return request === undefined || !body.exact ? undefined : { tag, request };
}

function requestOf(type: number, body: Body): Request | undefined {
  switch (type) {
    case requestType.list:
      return { type };
    case requestType.status:
      return { type, mac: body.mac() };
    case requestType.events:
      return { type, mac: body.mac(), after: body.u32(), max: body.u16() };
    case requestType.setClock:
      return { type, mac: body.mac(), unix_s: body.u32() };
    default:
      return undefined;
  }
}

export function encodeReply(reply: Reply, tag: number): Uint8Array {
  const head = [replyTypes[reply.type] | replyBit, tag];
  if (reply.type === "list") {
    const boxes = reply.boxes.flatMap(({ mac, rssi_dbm }) => [...macBytes(mac), rssi_dbm & 0xff]);
    return Uint8Array.from([...head, reply.boxes.length, ...boxes]);
  }
  head.push(...macBytes(reply.mac), reply.result);
  if ("status" in reply) head.push(...statusBytes(reply.status));
  if ("window" in reply) head.push(...u32(reply.window.nextpanicstart), ...u32(reply.window.nextpanicstop));
  if ("events" in reply) head.push(...eventsBytes(reply.events));
  return Uint8Array.from(head);
}

/**
 * Undefined when the payload is no whole reply. Bytes behind the known fields are passed over, so that a later
 * version of the bridge may add fields.
 */
export function decodeReply(
  payload: Uint8Array,
): { readonly tag: number; readonly reply: Reply } | undefined {
  const body = new Body(payload);
  const type = body.u8();
  const tag = body.u8();
  const reply = replyOf(type, body);
  return reply === undefined || body.short ? undefined : { tag, reply };
}

function replyOf(type: number, body: Body): Reply | undefined {
  switch (type) {
    case requestType.list | replyBit:
      return { type: "list", boxes: body.times(body.u8(), () => ({ mac: body.mac(), rssi_dbm: body.i8() })) };
    case requestType.status | replyBit:
      return statusReply(body.mac(), body.u8(), body);
    case requestType.events | replyBit:
      return eventsReply(body.mac(), body.u8(), body);
    case requestType.setClock | replyBit:
      return { type: "setClock", mac: body.mac(), result: body.u8() };
    default:
      return undefined;
  }
}

function statusReply(mac: string, code: number, body: Body): Reply | undefined {
  if (code === result.radioOff) {
    return {
      type: "status",
      mac,
      result: code,
      window: { nextpanicstart: body.u32(), nextpanicstop: body.u32() },
    };
  }
  if (code !== result.ok) return { type: "status", mac, result: code };
  const devicestamp = body.u32();
  const voltage_mv = body.u16();
  const power = body.u8();
  if (power > 1) return undefined;
  const status: Status = {
    devicestamp,
    voltage_mv,
    power: power === 0 ? "battery" : "external_power",
    eventcount: body.u32(),
    batteryseconds: body.u32(),
    nextpanicstart: body.u32(),
    nextpanicstop: body.u32(),
    boot: body.u16(),
    firmware: body.ascii(body.u8()),
  };
  return { type: "status", mac, result: code, status };
}

function eventsReply(mac: string, code: number, body: Body): Reply | undefined {
  if (code !== result.ok) return { type: "events", mac, result: code };
  const head = { devicestamp: body.u32(), boot: body.u16(), oldest: body.u32(), newest: body.u32() };
  const events = body.times(body.u8(), () => ({ seq: body.u32(), stamp: body.u32(), doors: body.u8() }));
  const rising = events.every(({ seq }, index) => index === 0 || seq > (events[index - 1]?.seq ?? 0));
  return rising ? { type: "events", mac, result: code, events: { ...head, events } } : undefined;
}

const replyTypes = { status: 0x01, events: 0x02, setClock: 0x03, list: 0x04 } as const;

function statusBytes(status: Status): number[] {
  const firmware = Buffer.from(status.firmware, "latin1");
  return [
    ...u32(status.devicestamp),
    ...u16(status.voltage_mv),
    status.power === "battery" ? 0 : 1,
    ...u32(status.eventcount),
    ...u32(status.batteryseconds),
    ...u32(status.nextpanicstart),
    ...u32(status.nextpanicstop),
    ...u16(status.boot),
    firmware.length,
    ...firmware,
  ];
}

function eventsBytes({ devicestamp, boot, oldest, newest, events }: Events): number[] {
  const list = events.flatMap(({ seq, stamp, doors }) => [...u32(seq), ...u32(stamp), doors]);
  return [...u32(devicestamp), ...u16(boot), ...u32(oldest), ...u32(newest), events.length, ...list];
}

/** Reads fields one after another; past the end they are 0 and `short` is true. */
class Body {
  readonly #bytes: DataView;
  #at = 0;

  constructor(payload: Uint8Array) {
    this.#bytes = new DataView(payload.buffer, payload.byteOffset, payload.byteLength);
  }

  get short(): boolean {
    return this.#at > this.#bytes.byteLength;
  }

  get exact(): boolean {
    return this.#at === this.#bytes.byteLength;
  }

  u8(): number {
    return this.#field(1, (at) => this.#bytes.getUint8(at));
  }

  i8(): number {
    return this.#field(1, (at) => this.#bytes.getInt8(at));
  }

  u16(): number {
    return this.#field(2, (at) => this.#bytes.getUint16(at, true));
  }

  u32(): number {
    return this.#field(4, (at) => this.#bytes.getUint32(at, true));
  }

  mac(): string {
    return Array.from({ length: 6 }, () => this.u8().toString(16).padStart(2, "0")).join(":");
  }

  /** Reads ASCII text for an operator; characters that a terminal could misread become dots. */
  ascii(length: number): string {
    const codes = this.times(length, () => this.u8());
    return codes.map((code) => (code >= 0x20 && code < 0x7f ? String.fromCharCode(code) : ".")).join("");
  }

  times<Element>(count: number, read: () => Element): Element[] {
    const elements: Element[] = [];
    while (elements.length < count && !this.short) elements.push(read());
    return elements;
  }

  #field(width: number, read: (at: number) => number): number {
    const at = this.#at;
    this.#at += width;
    return this.short ? 0 : read(at);
  }
}

function macBytes(mac: string): number[] {
  return mac.split(":").map((pair) => Number.parseInt(pair, 16));
}

function u16(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff];
}

function u32(value: number): number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff];
}
