import { describe, expect, test } from "bun:test";
import { decodeAddress, encodeAddress } from "../../../drivers/ble/address.ts";
import { decodeAdvertisingData, encodeAdvertisingData } from "../../../drivers/ble/advertising.ts";
import { decodeAtt, encodeAtt, opcodeOf } from "../../../drivers/ble/att.ts";
import { decodeDeclaration, encodeDeclaration } from "../../../drivers/ble/gatt.ts";
import { acl_bytes_max, PacketReader } from "../../../drivers/ble/h4.ts";
import {
  decodeAcl,
  decodeAdvertisingReports,
  decodeCommandAnswer,
  decodeCreateConnection,
  decodeEncryptionChange,
  decodeStartEncryption,
  encodeAdvertisingReport,
  encodeConnectionComplete,
  encodeDisconnectionComplete,
  encodeEncryptionChange,
  encodeKeyRefreshed,
  encodeStartEncryption,
  isAdvertisingReport,
} from "../../../drivers/ble/hci.ts";
import { L2capReader } from "../../../drivers/ble/l2cap.ts";
import { decodeUuid, encodeUuid, printedUuid } from "../../../drivers/ble/uuid.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const address = "54:08:e6:8f:80:a5";
const onAir = "a5808fe60854";

describe("UUIDs and addresses", () => {
  test("have nothing before them or behind them", () => {
    for (const wrong of ["x181d", "181dx", `0${"ab".repeat(16)}`, `${"ab".repeat(16)}0`])
      expect(() => encodeUuid(wrong)).toThrow("no UUID");
    for (const wrong of [`00:${address}`, `${address}:00`])
      expect(() => encodeAddress(wrong)).toThrow("no Bluetooth address");
  });

  test("keep their zeros", () => {
    expect([printedUuid("f"), printedUuid("180f")]).toEqual(["000f", "180f"]);
    expect(printedUuid("1234f")).toBe("0001234f-0000-1000-8000-00805f9b34fb");
    expect(decodeAddress(hex(onAir))).toBe(address);
  });

  test("are short only with the base of Bluetooth behind four zeros", () => {
    expect(decodeUuid(hex("fb349b5f80000080001000000f180000"))).toBe("180f");
    expect(decodeUuid(hex("fb349b5f80000080001000000f180100"))).toBe("0001180f-0000-1000-8000-00805f9b34fb");
    expect(decodeUuid(hex("fc349b5f80000080001000000f180000"))).toBe("0000180f-0000-1000-8000-00805f9b34fc");
  });
});

describe("advertising data", () => {
  test("has no more structures than fields, and as many bytes as fit", () => {
    expect(encodeAdvertisingData({})).toEqual(new Uint8Array());
    expect(Buffer.from(encodeAdvertisingData({ services: ["181d"] }))).toEqual(hex("03031d18"));
    expect(encodeAdvertisingData({ name: "abc" }, 5)).toHaveLength(5);
    expect(() => encodeAdvertisingData({ name: "abc" }, 4)).toThrow("5 bytes of advertising data, 4 fit");
  });

  test("ends at a structure that is empty or cut short, and what came before is kept", () => {
    const name = { name: "ab", services: [], serviceData: {} };
    for (const end of ["", "00", "0003031d18", "03031d", "ff", "050963", "030963", "0109"])
      expect(decodeAdvertisingData(hex(`03096162 ${end}`))).toStrictEqual(
        end === "0109" ? { ...name, name: "" } : name,
      );
    expect(decodeAdvertisingData(hex(""))).toStrictEqual({ services: [], serviceData: {} });
  });

  test("has service data with a whole UUID, and data of a make with its number", () => {
    expect(decodeAdvertisingData(hex("0216d2")).serviceData).toEqual({});
    expect(decodeAdvertisingData(hex("0316d2fc")).serviceData).toEqual({ fcd2: new Uint8Array() });
    expect(decodeAdvertisingData(hex("02ff90")).manufacturerData).toBeUndefined();
    expect(decodeAdvertisingData(hex("03ff9005")).manufacturerData).toEqual({
      company: 0x590,
      data: new Uint8Array(),
    });
  });
});

describe("a line", () => {
  const read = (from: "host" | "controller", ...chunks: string[]) => {
    const reader = new PacketReader(from);
    const packets = chunks.flatMap((chunk) =>
      reader.read(hex(chunk)).map((packet) => packet.toString("hex")),
    );
    return { packets, discarded: reader.discarded_bytes };
  };

  test("of a host has commands and data, of a controller events and data", () => {
    const data = "0240000100aa";
    expect(read("host", "01030c00", data, "040e00")).toEqual({ packets: ["01030c00", data], discarded: 3 });
    expect(read("controller", data, "040e00")).toEqual({ packets: [data, "040e00"], discarded: 0 });
    expect(read("controller", "01").discarded).toBe(1);
  });

  test("has events of codes in use, the first, the last and those of vendors", () => {
    for (const code of ["01", "3e", "ff"])
      expect(read("controller", `04${code}00`)).toEqual({ packets: [`04${code}00`], discarded: 0 });
    for (const code of ["00", "3f", "fe"]) expect(read("controller", `04${code}00`).packets).toEqual([]);
  });

  test("has data up to a bound", () => {
    const of = (length: number) => `024020${u16(length)}${"00".repeat(length)}`;
    const u16 = (number: number) => Buffer.of(number & 0xff, number >> 8).toString("hex");
    expect(read("controller", of(acl_bytes_max)).packets).toEqual([of(acl_bytes_max)]);
    expect(read("controller", of(acl_bytes_max + 1)).packets).not.toContain(of(acl_bytes_max + 1));
  });

  test("gives a packet that is nothing but its header as soon as the header is whole", () => {
    expect(read("controller", "040e", "00").packets).toEqual(["040e00"]);
    expect(read("controller", "040e00").packets).toEqual(["040e00"]);
    expect(read("host", "01030c", "00").packets).toEqual(["01030c00"]);
  });
});

describe("an answer to a command", () => {
  test("is complete or a status, at least as long as its fields, and an event", () => {
    expect(decodeCommandAnswer(hex("040e03 01 030c"))).toEqual({ credits: 1, opcode: 0x0c03, status: 0 });
    expect(decodeCommandAnswer(hex("040e04 01 030c 0c"))).toEqual({
      credits: 1,
      opcode: 0x0c03,
      status: 0x0c,
    });
    expect(decodeCommandAnswer(hex("040f04 0c 02 0d20"))).toEqual({
      credits: 2,
      opcode: 0x200d,
      status: 0x0c,
    });
    for (const other of ["020e04 01 030c 00", "040e02 01 03", "040f03 0c 02 0d", "041004 01 030c 00"])
      expect(decodeCommandAnswer(hex(other))).toBeUndefined();
  });
});

test("a piece of data begins a frame unless it goes on", () => {
  const first = (head: string) => decodeAcl(hex(`02 ${head} 0000`)).first;
  expect([first("4000"), first("4010"), first("4020"), first("4030")]).toEqual([true, false, true, true]);
});

describe("advertising reports", () => {
  const one = { kind: "connectable", address, addressType: "public", data: hex("01"), rssi: 20 } as const;

  test("come several in one event, each with its kind, its address and its signal", () => {
    const packet = hex(`043e 17 02 02 00 00 ${onAir} 01 01 14 04 01 ${onAir} 00 80`);
    expect(decodeAdvertisingReports(packet)).toEqual([
      { ...one, data: Uint8Array.of(1) },
      { ...one, kind: "scanResponse", addressType: "random", data: new Uint8Array(), rssi: -128 },
    ]);
    expect(encodeAdvertisingReport(one).toString("hex")).toBe(`043e0d02010000${onAir}010114`);
  });

  test("are at least one, of known kinds, in an event of their own", () => {
    expect(decodeAdvertisingReports(hex("043e02 02 00"))).toBeUndefined();
    expect(decodeAdvertisingReports(hex("043e01 02"))).toBeUndefined();
    expect(decodeAdvertisingReports(hex(`043e0c 02 01 05 00 ${onAir} 00 80`))).toBeUndefined();
    const report = encodeAdvertisingReport(one);
    expect(isAdvertisingReport(report)).toBe(true);
    for (const at of [0, 1, 3]) {
      const other = Buffer.from(report);
      other[at] = 1;
      expect(isAdvertisingReport(other)).toBe(false);
      expect(decodeAdvertisingReports(other)).toBeUndefined();
    }
  });
});

describe("a link", () => {
  const link = { status: 0, handle: 0x0123, address, addressType: "random" } as const;

  test("is told by its handle, its end's address and its timing, and a failure by its status alone", () => {
    expect(encodeConnectionComplete(link).toString("hex")).toBe(
      `043e13 01 00 2301 00 01 ${onAir} 1800 0000 2a00 00`.replaceAll(" ", ""),
    );
    expect(encodeConnectionComplete({ ...link, addressType: "public" })[8]).toBe(0);
    expect(encodeConnectionComplete({ ...link, status: 2 }).toString("hex")).toBe(
      `043e130102${"00".repeat(17)}`,
    );
    expect(encodeDisconnectionComplete(0x0123, 0x13).toString("hex")).toBe("040504" + "00230113");
    expect(decodeCreateConnection(hex(`60003000 00 01 ${onAir} 00`))).toBe(address);
  });

  test("is encrypted by a key with its name, each with its last byte first on the air", () => {
    const key = {
      value: Uint8Array.from({ length: 16 }, (_, index) => index),
      diversifier: 0x1234,
      random: Uint8Array.from({ length: 8 }, (_, index) => 0x20 + index),
    };
    const command = encodeStartEncryption(0x0123, key);
    expect(command.toString("hex")).toBe(
      "0119201c" + "2301" + "2726252423222120" + "3412" + "0f0e0d0c0b0a09080706050403020100",
    );
    expect(decodeStartEncryption(command.subarray(4))).toEqual({ handle: 0x0123, ...key });
  });

  test("says how its encryption was begun or its key renewed, and encryption that is off is no success", () => {
    const begun = { handle: 0x0123, status: 0 };
    const failed = { handle: 0x0123, status: 6 };
    expect(encodeEncryptionChange(begun).toString("hex")).toBe("04080400230101");
    expect(encodeEncryptionChange(failed).toString("hex")).toBe("04080406230100");
    expect(encodeKeyRefreshed(failed).toString("hex")).toBe("043003062301");
    for (const change of [begun, failed]) {
      expect(decodeEncryptionChange(encodeEncryptionChange(change))).toEqual(change);
      expect(decodeEncryptionChange(encodeKeyRefreshed(change))).toEqual(change);
    }
    expect(decodeEncryptionChange(hex("040804 00 2301 00"))).toEqual({ handle: 0x0123, status: 0x0c });
    expect(decodeEncryptionChange(hex("043004 00 2301 00"))).toEqual(begun);
    expect(decodeEncryptionChange(hex("040804 00 23f1 01"))).toEqual(begun);
    for (const other of [
      "020804 00 2301 01",
      "040803 00 2301",
      "043002 00 23",
      "040504 00 2301 01",
      "040502 00 23",
    ])
      expect(decodeEncryptionChange(hex(other))).toBeUndefined();
  });
});

describe("a unit of attributes", () => {
  const uart = "6e400001-b5a3-f393-e0a9-e50e24dcca9e";

  test("lists UUIDs of one length, short or long", () => {
    for (const uuid of ["2902", uart]) {
      const entries = [4, 5].map((handle) => ({ handle, uuid }));
      const response = encodeAtt({ op: "findInformationResponse", entries });
      expect(response[1]).toBe(uuid === uart ? 2 : 1);
      expect(decodeAtt(response)).toEqual({ op: "findInformationResponse", entries });
      const request = { op: "readByTypeRequest", start: 1, end: 9, uuid } as const;
      expect(decodeAtt(encodeAtt(request))).toEqual(request);
    }
    expect(decodeAtt(hex("08 0100 0900 030405"))).toBeUndefined();
  });

  test("lists values of one length, in order, and none where there is none", () => {
    const byType = [1, 2, 3].map((handle) => ({ handle, value: Uint8Array.of(handle, 9) }));
    const byGroup = byType.map(({ handle, value }) => ({ handle, end: handle + 1, value }));
    const units = [
      { op: "readByTypeResponse", entries: byType },
      { op: "readByGroupResponse", entries: byGroup },
      { op: "readByTypeResponse", entries: [{ handle: 1, value: new Uint8Array() }] },
      { op: "readByGroupResponse", entries: [{ handle: 1, end: 2, value: new Uint8Array() }] },
    ] as const;
    for (const unit of units) expect(decodeAtt(encodeAtt(unit))).toEqual(unit);
    expect(encodeAtt({ op: "readByTypeResponse", entries: [] }).toString("hex")).toBe("0900");
    expect(encodeAtt({ op: "findInformationResponse", entries: [] }).toString("hex")).toBe("0502");
    for (const short of ["09 00", "09 01 0100", "11 00", "11 03 010002"])
      expect(decodeAtt(hex(short))).toBeUndefined();
  });

  test("is a command to write, and repeated by its code in an error", () => {
    const unit = { op: "writeCommand", handle: 3, value: Uint8Array.of(1, 2) } as const;
    expect(decodeAtt(encodeAtt(unit))).toEqual(unit);
    expect([opcodeOf("readRequest"), opcodeOf("writeCommand")]).toEqual([0x0a, 0x52]);
    expect(decodeAtt(new Uint8Array())).toBeUndefined();
    expect(decodeAtt(hex("99 0400 0000 0000"))).toBeUndefined();
  });

  test("declares a characteristic with a long UUID too", () => {
    const declaration = {
      properties: new Set(["read" as const, "notify" as const]),
      valueHandle: 0x0102,
      uuid: uart,
    };
    expect(decodeDeclaration(encodeDeclaration(declaration))).toEqual(declaration);
    expect(decodeDeclaration(new Uint8Array(18))).toBeUndefined();
  });
});

describe("frames of a link", () => {
  const piece = (first: boolean, ...bytes: number[]) => ({ first, data: Uint8Array.from(bytes) });

  test("may be empty, and may come byte by byte", () => {
    const reader = new L2capReader();
    expect(reader.read(piece(true, 0, 0, 4, 0))).toEqual({ channel: 4, data: Buffer.alloc(0) });
    expect(reader.read(piece(true, 1, 0, 4))).toBeUndefined();
    expect(reader.read(piece(false, 0))).toBeUndefined();
    expect(reader.read(piece(false, 9))).toEqual({ channel: 4, data: Buffer.of(9) });
  });

  test("are as long as a bound, and not a byte longer", () => {
    const whole = (length: number) =>
      piece(true, length & 0xff, length >> 8, 4, 0, ...new Uint8Array(length));
    expect(new L2capReader().read(whole(4_092))?.data).toHaveLength(4_092);
    expect(new L2capReader().read(whole(4_093))).toBeUndefined();
  });
});
