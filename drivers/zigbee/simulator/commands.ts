import { type Neighbour, type SimulatedDevice, u16 } from "./device.ts";
import { type Network, type NvMemory, reversed } from "./nv.ts";
import { answerOf, changedChannel, ownAnswer, refusal, zdo } from "./zdo.ts";

/** The coordinator whose host commands it. */
interface Coordinator {
  readonly eui: Buffer;
  readonly nv: NvMemory;
  readonly endpoints: Set<number>;
  readonly devices: readonly SimulatedDevice[];
  readonly network: Network | undefined;
  state: number;
  channels: number;
  form(): void;
  changeChannel(channel: number): void;
  deviceAt(nwk: number): SimulatedDevice | undefined;
  openJoining(seconds: number): void;
  neighbours(): readonly Neighbour[];
  readonly energies: readonly number[];
}

/** How a command is answered: one synchronous response, then any number of events. */
export interface Reply {
  respond(data: Uint8Array): void;
  event(command: number, data: Uint8Array): void;
}

type Handler = (znp: Coordinator, data: Buffer, reply: Reply) => void;

const ok = Buffer.from([0]);
const read_max_bytes = 240;
/** Events of ZDO with an answer; the number of the request besides. */
const zdoAnswer = 0x4580;
/** Failure, which a host does not try again; MAC no acknowledgement, when a data request finds nobody; MAC transaction expired, when a sleeper does not ask. */
const dataStatus = { success: 0x00, failed: 0x01, expired: 0xf0, noAck: 0xe9 } as const;
const coordinatorNwk = u16(0);

const accept: Handler = (_znp, _data, reply) => reply.respond(ok);

/** Every request that a host sends, as subsystem << 8 | id. Source: TI Z-Stack Monitor and Test API, chapter 3. */
export const commandTable: Readonly<Record<number, Handler>> = {
  // SYS
  256: reset,
  257: (_znp, _data, reply) => reply.respond(u16(0x0759)),
  // Transport 2, product 1 (Z-Stack 3.x.0), 2.7.1, revision 20230507.
  258: (_znp, _data, reply) => reply.respond(Buffer.from("02010207016bb13401", "hex")),
  260: (znp, _data, reply) => reply.respond(reversed(znp.eui)),
  263: nvInit,
  274: (znp, data, reply) => {
    znp.nv.delete(data.readUInt16LE(0));
    reply.respond(ok);
  },
  275: (znp, data, reply) => reply.respond(u16(znp.nv.get(data.readUInt16LE(0))?.length ?? 0)),
  284: nvRead,
  285: nvWrite,
  306: (znp, data, reply) => reply.respond(Buffer.from([tableEntry(znp, data)?.length ?? 0])),
  307: (znp, data, reply) => {
    const entry = tableEntry(znp, data) ?? Buffer.alloc(0);
    reply.respond(Buffer.concat([Buffer.from([entry.length === 0 ? 1 : 0, entry.length]), entry]));
  },
  308: (znp, data, reply) => {
    znp.nv.setEntry(data.readUInt16LE(1), data.readUInt16LE(3), data.subarray(8));
    reply.respond(ok);
  },
  // AF
  1024: (znp, data, reply) => {
    znp.endpoints.add(data.readUInt8(0));
    reply.respond(ok);
  },
  1025: dataRequest,
  1026: accept,
  // ZDO
  1280: networkAddress,
  1281: ieeeAddress,
  1282: descriptor(zdo.nodeDescriptor),
  1284: descriptor(zdo.simpleDescriptor),
  1285: descriptor(zdo.activeEndpoints),
  1329: descriptor(zdo.lqi, 0),
  1335: networkUpdate,
  1313: answerBinding(0x45a1),
  1314: answerBinding(0x45a2),
  1332: leaveRequest,
  1334: permitJoin,
  1344: (znp, _data, reply) => {
    reply.respond(ok);
    if (znp.network === undefined) znp.form();
    start(znp, reply);
  },
  1349: accept,
  1354: (_znp, data, reply) =>
    reply.respond(Buffer.concat([Buffer.from([1]), data.subarray(1, 3), Buffer.from([0])])),
  1355: accept,
  1360: networkInfo,
  // UTIL
  1792: (znp, _data, reply) =>
    reply.respond(Buffer.concat([ok, reversed(znp.eui), coordinatorNwk, Buffer.from([7, znp.state, 0])])),
  1802: accept,
  1866: (_znp, _data, reply) => reply.respond(Buffer.from("feff0000ff", "hex")),
  // APP_CNF
  3845: (znp, _data, reply) => {
    reply.respond(ok);
    znp.form();
    start(znp, reply);
  },
  3848: (znp, data, reply) => {
    if (data.readUInt8(0) === 1) znp.channels = data.readUInt32LE(1);
    reply.respond(ok);
  },
};

function reset(znp: Coordinator, _data: Buffer, reply: Reply): void {
  znp.nv.restart();
  znp.state = 0;
  znp.endpoints.clear();
  reply.event(0x4180, Buffer.from("000201020701", "hex"));
}

/** Runs as coordinator of the network in memory. */
function start(znp: Coordinator, reply: Reply): void {
  znp.state = 9;
  reply.event(0x45c0, Buffer.from([9]));
}

/** id u16, length u16, initial length u8, initial value. 09: made. */
function nvInit(znp: Coordinator, data: Buffer, reply: Reply): void {
  const id = data.readUInt16LE(0);
  if (znp.nv.get(id) !== undefined) {
    reply.respond(ok);
    return;
  }
  const value = Buffer.alloc(data.readUInt16LE(2));
  value.set(data.subarray(5, 5 + data.readUInt8(4)));
  znp.nv.set(id, value);
  reply.respond(Buffer.from([9]));
}

/** id u16, offset u16 → status, length, value. 02: no such item. */
function nvRead(znp: Coordinator, data: Buffer, reply: Reply): void {
  const item = znp.nv.get(data.readUInt16LE(0));
  if (item === undefined) {
    reply.respond(Buffer.from([2, 0]));
    return;
  }
  const offset = data.readUInt16LE(2);
  const value = item.subarray(offset, offset + read_max_bytes);
  reply.respond(Buffer.concat([Buffer.from([0, value.length]), value]));
}

/** id u16, offset u16, length u16, value. */
function nvWrite(znp: Coordinator, data: Buffer, reply: Reply): void {
  const id = data.readUInt16LE(0);
  const offset = data.readUInt16LE(2);
  const value = data.subarray(6);
  const item = Buffer.alloc(Math.max(znp.nv.get(id)?.length ?? 0, offset + value.length));
  item.set(znp.nv.get(id) ?? Buffer.alloc(0));
  item.set(value, offset);
  znp.nv.set(id, item);
  reply.respond(ok);
}

/** system u8, item u16, entry u16, … */
function tableEntry(znp: Coordinator, data: Buffer): Buffer | undefined {
  return data.readUInt8(0) === 1 ? znp.nv.entry(data.readUInt16LE(1), data.readUInt16LE(3)) : undefined;
}

/** AF_DATA_REQUEST: nwk u16, endpoint, source endpoint, cluster u16, transaction, options, radius, length, ZCL. */
function dataRequest(znp: Coordinator, data: Buffer, reply: Reply): void {
  reply.respond(ok);
  const endpoint = data.readUInt8(3);
  const confirm = (status: number) => reply.event(0x4480, Buffer.from([status, endpoint, data.readUInt8(6)]));
  const device = znp.deviceAt(data.readUInt16LE(0));
  if (device === undefined) confirm(dataStatus.noAck);
  else if (device.fault === "silent") confirm(dataStatus.expired);
  else if (device.fault === "unreachable") confirm(dataStatus.failed);
  else {
    confirm(dataStatus.success);
    device.receive(data.readUInt8(2), data.readUInt16LE(4), data.subarray(10));
  }
}

/** Has the device that `data` names answer a ZDO request, or says that nobody is there. */
function descriptor(request: number, nwk_at = 2): Handler {
  return (znp, data, reply) => {
    reply.respond(ok);
    const nwk = data.subarray(nwk_at, nwk_at + 2);
    const device = znp.deviceAt(nwk.readUInt16LE(0));
    const own = nwk.readUInt16LE(0) === 0;
    const isDeaf = device === undefined || device.fault === "unreachable";
    const answer = own
      ? ownAnswer(request, data.subarray(2), {
          wireAddress: reversed(znp.eui),
          manufacturer_code: 0,
          endpoints: [...znp.endpoints].map((id) => ({ id, profile: 0x0104, device_id: 5, input: [] })),
          neighbours: znp.neighbours(),
          energies: znp.energies,
        })
      : isDeaf
        ? refusal(nwk)
        : answerOf(device, request, data.subarray(2));
    if (answer !== undefined) reply.event(zdoAnswer | request, Buffer.concat([nwk, answer]));
  };
}

/** nwk u16, address mode u8, and the request. */
function networkUpdate(znp: Coordinator, data: Buffer, reply: Reply): void {
  const fields = data.subarray(3);
  const channel = changedChannel(fields);
  if (channel === undefined)
    descriptor(zdo.networkUpdate, 0)(znp, Buffer.concat([data.subarray(0, 2), fields]), reply);
  else {
    reply.respond(ok);
    znp.changeChannel(channel);
  }
}

/** Both answer status, EUI64, nwk, start index, number of children. */
function networkAddress(znp: Coordinator, data: Buffer, reply: Reply): void {
  reply.respond(ok);
  const device = znp.devices.find((one) => one.wireAddress.equals(data.subarray(0, 8)));
  if (device !== undefined && znp.deviceAt(device.nwk) === device) address(device, zdo.networkAddress, reply);
}

function ieeeAddress(znp: Coordinator, data: Buffer, reply: Reply): void {
  reply.respond(ok);
  const device = znp.deviceAt(data.readUInt16LE(0));
  if (device !== undefined) address(device, zdo.ieeeAddress, reply);
}

function address(device: SimulatedDevice, request: number, reply: Reply): void {
  const answer = answerOf(device, request, Buffer.alloc(0));
  if (answer !== undefined) reply.event(zdoAnswer | request, answer);
}

/** Every binding is made, and every one is taken back. */
function answerBinding(event: number): Handler {
  return (_znp, data, reply) => {
    reply.respond(ok);
    reply.event(event, Buffer.concat([data.subarray(0, 2), ok]));
  };
}

function leaveRequest(znp: Coordinator, data: Buffer, reply: Reply): void {
  reply.respond(ok);
  const device = znp.devices.find((one) => one.wireAddress.equals(data.subarray(2, 10)));
  reply.event(0x45b4, Buffer.concat([data.subarray(0, 2), ok]));
  device?.leave();
}

/** address mode u8, nwk u16, seconds u8, trust centre significance u8. */
function permitJoin(znp: Coordinator, data: Buffer, reply: Reply): void {
  znp.openJoining(data.readUInt8(3));
  reply.respond(ok);
  reply.event(0x45b6, Buffer.concat([coordinatorNwk, ok]));
}

/** nwk u16, state u8, PAN id u16, parent u16, extended PAN id, parent EUI64, channel u8. */
function networkInfo(znp: Coordinator, _data: Buffer, reply: Reply): void {
  const network = znp.network;
  reply.respond(
    Buffer.concat([
      coordinatorNwk,
      Buffer.from([znp.state]),
      u16(network?.pan_id ?? 0xffff),
      coordinatorNwk,
      reversed(network?.extended_pan_id ?? Buffer.alloc(8)),
      Buffer.alloc(8),
      Buffer.from([network?.channel ?? 0]),
    ]),
  );
}
