import { describe, expect, test } from "bun:test";
import {
  decodeReply,
  decodeRequest,
  encodeReply,
  encodeRequest,
  payload_max_bytes,
  type Reply,
  type Request,
} from "../../../drivers/pillbox/protocol.ts";

const bytes = (hex: string) => Uint8Array.fromHex(hex.replaceAll(" ", ""));
const mac = "00:a1:b2:c3:d4:f5";
const boxed = "00a1b2c3d4f5";

const requests: [string, Request][] = [
  [`01 07 ${boxed}`, { type: 1, mac }],
  [`02 07 ${boxed} 04030281 0102`, { type: 2, mac, after: 0x81020304, max: 0x0201 }],
  [`03 07 ${boxed} 04030281`, { type: 3, mac, unix_s: 0x81020304 }],
  ["04 07", { type: 4 }],
];

const status = {
  devicestamp: 0x81020304,
  voltage_mv: 0x8201,
  power: "battery",
  eventcount: 0x82030405,
  batteryseconds: 0x83040506,
  nextpanicstart: 0x84050607,
  nextpanicstop: 0x85060708,
  boot: 0x8302,
  firmware: " 1.2~",
} as const;
const statusTail = "05040382 06050483 07060584 08070685 0283 05 20312e327e";
const event = (seq: number) => ({ seq, stamp: 0x86070809, doors: 0x81 });
const events = { devicestamp: 0x81020304, boot: 0x8302, oldest: 0x82030405, newest: 0x83040506 };
const eventsHead = `82 07 ${boxed} 00 04030281 0283 05040382 06050483`;
const oneEvent = (seq: string) => `${seq} 09080786 81`;

const replies: [string, Reply][] = [
  [`81 07 ${boxed} 00 04030281 0182 00 ${statusTail}`, { type: "status", mac, result: 0, status }],
  [
    `81 07 ${boxed} 00 04030281 0182 01 ${statusTail}`,
    { type: "status", mac, result: 0, status: { ...status, power: "external_power" } },
  ],
  [
    `81 07 ${boxed} 01 07060584 08070685`,
    { type: "status", mac, result: 1, window: { nextpanicstart: 0x84050607, nextpanicstop: 0x85060708 } },
  ],
  [`81 07 ${boxed} 02`, { type: "status", mac, result: 2 }],
  [`${eventsHead} 00`, { type: "events", mac, result: 0, events: { ...events, events: [] } }],
  [
    `${eventsHead} 02 ${oneEvent("00000000")} ${oneEvent("01000000")}`,
    { type: "events", mac, result: 0, events: { ...events, events: [event(0), event(1)] } },
  ],
  [`82 07 ${boxed} 01`, { type: "events", mac, result: 1 }],
  [`83 07 ${boxed} 03`, { type: "setClock", mac, result: 3 }],
  ["84 07 00", { type: "list", boxes: [] }],
  [
    `84 07 02 ${boxed} b5 0a0b0c0d0e0f 7f`,
    {
      type: "list",
      boxes: [
        { mac, rssi_dbm: -75 },
        { mac: "0a:0b:0c:0d:0e:0f", rssi_dbm: 127 },
      ],
    },
  ],
];

describe("requests", () => {
  test.each(requests)("%s", (hex, request) => {
    expect(encodeRequest(request, 7)).toEqual(bytes(hex));
    expect(decodeRequest(bytes(hex))).toEqual({ tag: 7, request });
  });

  test("are whole, without a byte less or more, and of a type that is known", () => {
    for (const [hex] of requests) {
      const whole = bytes(hex);
      for (let length = 0; length < whole.length; length += 1)
        expect(decodeRequest(whole.subarray(0, length))).toBeUndefined();
      expect(decodeRequest(Uint8Array.from([...whole, 0]))).toBeUndefined();
    }
    for (const type of ["00", "05", "81"]) expect(decodeRequest(bytes(`${type} 07`))).toBeUndefined();
  });
});

describe("replies", () => {
  test.each(replies)("%s", (hex, reply) => {
    expect(encodeReply(reply, 7)).toEqual(bytes(hex));
    expect(decodeReply(bytes(hex))).toEqual({ tag: 7, reply });
  });

  test("are whole, and what a later bridge adds behind them is passed over", () => {
    for (const [hex, reply] of replies) {
      const whole = bytes(hex);
      for (let length = 0; length < whole.length; length += 1)
        expect(decodeReply(whole.subarray(0, length))).toBeUndefined();
      expect(decodeReply(Uint8Array.from([...whole, 9, 9]))).toEqual({ tag: 7, reply });
    }
  });

  test("have a type that is known, a power supply that is known, and events that rise", () => {
    for (const type of ["01", "80", "85"])
      expect(decodeReply(bytes(`${type} 07 ${boxed} 00`))).toBeUndefined();
    expect(decodeReply(bytes(`81 07 ${boxed} 00 04030281 0182 02 ${statusTail}`))).toBeUndefined();
    for (const second of ["01000000", "02000000"])
      expect(
        decodeReply(bytes(`${eventsHead} 02 ${oneEvent("02000000")} ${oneEvent(second)}`)),
      ).toBeUndefined();
  });

  test("show what a terminal could misread as dots", () => {
    const read = decodeReply(
      bytes(`81 07 ${boxed} 00 04030281 0182 00 05040382 06050483 07060584 08070685 0283 04 1f 20 7e 7f`),
    );
    expect(read?.reply).toMatchObject({ status: { firmware: ". ~." } });
  });

  test("that say more than they hold end at once", () => {
    const longest = Uint8Array.from([...bytes(`${eventsHead} ff`), ...new Uint8Array(payload_max_bytes)]);
    expect(decodeReply(longest)).toBeUndefined();
  });
});
