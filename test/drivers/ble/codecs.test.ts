import { expect, test } from "bun:test";
import { decodeAddress, encodeAddress } from "../../../drivers/ble/address.ts";
import {
  decodeAdvertisingData,
  encodeAdvertisingData,
  legacy_bytes_max,
} from "../../../drivers/ble/advertising.ts";
import { type AttUnit, decodeAtt, encodeAtt } from "../../../drivers/ble/att.ts";
import { decodeDeclaration, encodeDeclaration } from "../../../drivers/ble/gatt.ts";
import { PacketReader } from "../../../drivers/ble/h4.ts";
import {
  decodeAcl,
  decodeAdvertisingReports,
  decodeCommand,
  decodeCommandAnswer,
  encodeAcl,
  encodeAdvertisingReport,
  encodeCommand,
  encodeCommandComplete,
  encodeCommandStatus,
  encodeCompletedPackets,
  type Report,
} from "../../../drivers/ble/hci.ts";
import { encodeL2cap, L2capReader } from "../../../drivers/ble/l2cap.ts";
import { decodeUuid, encodeUuid, printedUuid } from "../../../drivers/ble/uuid.ts";
import { seededRandom } from "../../../testbed/recording-host.ts";

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(" ", ""), "hex"));

test("UUIDs and addresses are low byte first on the wire, and printed the other way round", () => {
  expect(encodeUuid("181d")).toEqual(hex("1d18"));
  expect(decodeUuid(hex("1d18"))).toBe("181d");
  const uart = "6e400001-b5a3-f393-e0a9-e50e24dcca9e";
  expect(encodeUuid(uart)).toEqual(hex("9ecadc240ee5a9e093f3a3b50100406e"));
  expect(decodeUuid(encodeUuid(uart))).toBe(uart);
  // A SIG UUID in its long form, and noble's form without leading zeros.
  expect(decodeUuid(hex("fb349b5f80000080001000000f180000"))).toBe("180f");
  expect(printedUuid("fc5")).toBe("0fc5");
  expect(() => encodeUuid("181")).toThrow("no UUID");
  expect(encodeAddress("54:48:e6:8f:80:a5")).toEqual(hex("a5808fe64854"));
  expect(decodeAddress(hex("a5808fe64854"))).toBe("54:48:e6:8f:80:a5");
  expect(() => encodeAddress("54:48:e6:8f:80")).toThrow("no Bluetooth address");
});

test("advertising data is what its bytes say: a BTHome broadcast, and all fields there and back", () => {
  // The example of bthome.io/format: flags, a name, 16-bit service data of D2FC.
  const example = hex("020106 0b094449592d73656e736f72 0a16d2fc40 02c409 03bf13");
  expect(decodeAdvertisingData(example)).toEqual({
    name: "DIY-sensor",
    services: [],
    serviceData: { fcd2: hex("40 02c409 03bf13") },
  });
  const all = {
    name: "Bangle.js 7f3a",
    services: ["181d", "6e400001-b5a3-f393-e0a9-e50e24dcca9e"],
    serviceData: { fe95: hex("0102"), "6e400001-b5a3-f393-e0a9-e50e24dcca9e": hex("03") },
    manufacturerData: { company: 0x0590, data: hex("aabb") },
  };
  const bytes = encodeAdvertisingData(all);
  expect(decodeAdvertisingData(bytes)).toEqual(all);
  expect(() => encodeAdvertisingData(all, legacy_bytes_max)).toThrow("31 fit");
  for (let length = 0; length < bytes.length; length += 1) decodeAdvertisingData(bytes.subarray(0, length));
});

test("a packet says what the specification's layout says", () => {
  expect(encodeCommand(0x0c03)).toEqual(Buffer.from("01030c00", "hex"));
  expect(decodeCommand(encodeCommand(0x200c, hex("0100")))).toEqual({
    opcode: 0x200c,
    parameters: Buffer.from("0100", "hex"),
  });
  const complete = { opcode: 0x0c03, credits: 1, status: 0 };
  expect(encodeCommandComplete(complete)).toEqual(Buffer.from("040e0401030c00", "hex"));
  expect(decodeCommandAnswer(encodeCommandComplete(complete, hex("ff")))).toEqual(complete);
  const refused = { opcode: 0x200d, credits: 2, status: 0x0c };
  expect(encodeCommandStatus(refused)).toEqual(Buffer.from("040f040c020d20", "hex"));
  expect(decodeCommandAnswer(encodeCommandStatus(refused))).toEqual(refused);
  expect(decodeCommandAnswer(encodeCompletedPackets(0x40, 1))).toBeUndefined();
  expect(decodeCommandAnswer(Buffer.from("040e0101", "hex"))).toBeUndefined();
  const piece = { handle: 0x40, first: true, data: hex("0100 0400 1e") };
  expect(encodeAcl(piece, "host")).toEqual(Buffer.from("02402005000100 04001e".replace(" ", ""), "hex"));
  expect(encodeAcl(piece, "controller")).toEqual(Buffer.from("0240000500010004001e", "hex"));
  expect(decodeAcl(encodeAcl({ ...piece, first: false }, "host")).first).toBe(false);
});

test("an advertising report is its bytes, both ways, and one that does not fit is none", () => {
  const report: Report = {
    kind: "nonconnectable",
    address: "54:48:e6:8f:80:a5",
    addressType: "random",
    data: hex("020106"),
    rssi: -60,
  };
  const packet = encodeAdvertisingReport(report);
  expect(packet.toString("hex")).toBe("043e0f02010301a5808fe6485403020106c4");
  expect(decodeAdvertisingReports(packet)).toEqual([report]);
  for (let length = 3; length < packet.length; length += 1) {
    expect(decodeAdvertisingReports(packet.subarray(0, length))).toBeUndefined();
  }
  expect(decodeAdvertisingReports(Buffer.concat([packet, hex("00")]))).toBeUndefined();
});

const units: readonly (readonly [string, AttUnit])[] = [
  ["01 10 0c00 0a", { op: "error", request: 0x10, handle: 12, code: 0x0a }],
  ["02 0001", { op: "mtuRequest", mtu: 256 }],
  ["03 1700", { op: "mtuResponse", mtu: 23 }],
  ["04 0100 ffff", { op: "findInformationRequest", start: 1, end: 0xffff }],
  ["05 01 0400 0229", { op: "findInformationResponse", entries: [{ handle: 4, uuid: "2902" }] }],
  ["08 0100 ffff 0328", { op: "readByTypeRequest", start: 1, end: 0xffff, uuid: "2803" }],
  [
    "09 07 0200 200300 9d2a",
    { op: "readByTypeResponse", entries: [{ handle: 2, value: hex("2003009d2a") }] },
  ],
  ["0a 0300", { op: "readRequest", handle: 3 }],
  ["0b 58", { op: "readResponse", value: hex("58") }],
  ["0c 0300 1600", { op: "readBlobRequest", handle: 3, offset: 22 }],
  ["0d 0102", { op: "readBlobResponse", value: hex("0102") }],
  ["10 0100 ffff 0028", { op: "readByGroupRequest", start: 1, end: 0xffff, uuid: "2800" }],
  [
    "11 06 0100 0400 1d18",
    { op: "readByGroupResponse", entries: [{ handle: 1, end: 4, value: hex("1d18") }] },
  ],
  ["12 0400 0200", { op: "writeRequest", handle: 4, value: hex("0200") }],
  ["13", { op: "writeResponse" }],
  ["1b 0300 aa", { op: "notification", handle: 3, value: hex("aa") }],
  ["1d 0300 aabb", { op: "indication", handle: 3, value: hex("aabb") }],
  ["1e", { op: "confirmation" }],
  ["52 0300 01", { op: "writeCommand", handle: 3, value: hex("01") }],
];

test("every ATT unit is its bytes, both ways, and cut short it is none", () => {
  for (const [bytes, unit] of units) {
    expect([bytes, encodeAtt(unit).toString("hex")]).toEqual([bytes, bytes.replaceAll(" ", "")]);
    expect(decodeAtt(hex(bytes))).toEqual(unit);
    for (let length = 0; length < hex(bytes).length; length += 1) decodeAtt(hex(bytes).subarray(0, length));
  }
  expect(decodeAtt(hex("12 04"))).toBeUndefined();
  expect(decodeAtt(hex("99 0400"))).toBeUndefined();
  const declaration = {
    properties: new Set(["indicate" as const]),
    valueHandle: 3,
    uuid: "2a9d",
  };
  expect(encodeDeclaration(declaration)).toEqual(Buffer.from("2003009d2a", "hex"));
  expect(decodeDeclaration(hex("2003009d2a"))).toEqual(declaration);
  expect(decodeDeclaration(hex("200300"))).toBeUndefined();
});

test("frames of a link are put together from their pieces", () => {
  const frame = { channel: 4, data: hex("00112233445566778899") };
  const bytes = encodeL2cap(frame);
  const reader = new L2capReader();
  const read: unknown[] = [];
  for (let at = 0; at < bytes.length; at += 4) {
    read.push(reader.read({ first: at === 0, data: bytes.subarray(at, at + 4) }));
  }
  expect(read).toEqual([undefined, undefined, undefined, { ...frame, data: Buffer.from(frame.data) }]);
  for (let piece = 0; piece < 10_000; piece += 1) reader.read({ first: false, data: hex("ffff") });
  expect(reader.read({ first: true, data: bytes })?.channel).toBe(4);
});

const packets = [
  encodeCommandComplete({ opcode: 0x0c03, credits: 1, status: 0 }),
  encodeAcl({ handle: 0x40, first: true, data: new Uint8Array(60).fill(4) }, "host"),
  encodeCompletedPackets(0x40, 3),
];
const line = Buffer.concat(packets);

test("packets come out of a line in one gulp, byte by byte and in any pieces", () => {
  for (const piece_bytes of [line.length, 1, 2, 3, 7, 64]) {
    const reader = new PacketReader("controller");
    const read: Buffer[] = [];
    for (let at = 0; at < line.length; at += piece_bytes) {
      read.push(...reader.read(line.subarray(at, at + piece_bytes)));
    }
    expect(read).toEqual(packets);
    expect(reader.discarded_bytes).toBe(0);
  }
});

test("garbage around packets is thrown away and counted, and the line is found again", () => {
  const reader = new PacketReader("controller");
  const noise = Buffer.alloc(300, 0x55);
  expect(reader.read(Buffer.concat([noise, line, noise, line]))).toEqual([...packets, ...packets]);
  expect(reader.discarded_bytes).toBe(600);
  // A length that no controller sends, and an event that there is not.
  expect(reader.read(Buffer.concat([hex("02 4020 ffff"), hex("04 fe"), line]))).toContainEqual(
    line.subarray(0, 7),
  );
});

test("a reader holds no more than a packet, whatever it is fed", () => {
  const random = seededRandom(7);
  const reader = new PacketReader("controller");
  let packets_bytes = 0;
  let fed_bytes = 0;
  for (let round = 0; round < 2_000; round += 1) {
    const chunk = random(1 + (round % 97));
    fed_bytes += chunk.length;
    for (const packet of reader.read(chunk)) packets_bytes += packet.length;
  }
  const held_bytes = fed_bytes - packets_bytes - reader.discarded_bytes;
  expect(held_bytes).toBeGreaterThanOrEqual(0);
  expect(held_bytes).toBeLessThanOrEqual(1_029);
});
