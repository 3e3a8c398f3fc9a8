import { decodeAdvertisingData } from "../../../../drivers/ble/advertising.ts";
import { decodeAtt } from "../../../../drivers/ble/att.ts";
import { PacketReader } from "../../../../drivers/ble/h4.ts";
import { encodeCommand, opcode } from "../../../../drivers/ble/hci.ts";
import { decodeSecurity } from "../../../../drivers/ble/security/protocol.ts";
import { decodeObjects } from "../../../../drivers/bthome/objects.ts";
import { decodeServiceData } from "../../../../drivers/bthome/service-data.ts";
import { hubs } from "../../../../drivers/mqtt/hubs.ts";
import { PacketSizes } from "../../../../drivers/mqtt/packet-sizes.ts";
import {
  decodeReply,
  decodeRequest,
  encodeRequest,
  payload_max_bytes,
  requestType,
} from "../../../../drivers/pillbox/protocol.ts";
import { decodeS400, encodeS400 } from "../../../../drivers/scale/s400.ts";
import {
  decodeBattery,
  decodeComposition,
  decodeConsent,
  decodeCurrentTime,
  decodeUserResponse,
  decodeWeight,
} from "../../../../drivers/scale/standard.ts";
import { decodeXiaomi } from "../../../../drivers/scale/xiaomi.ts";
import { decodeTemperature } from "../../../../drivers/vitals/measurements.ts";
import { line_max_bytes } from "../../../../drivers/watch/fetch.ts";
import { decodeLine } from "../../../../drivers/watch/health-log.ts";
import { bytesOf } from "../../../../drivers/wire/example.ts";
import { encodeFrame, FrameReader } from "../../../../drivers/wire/hdlc.ts";
import { decodeHeart } from "../../../../drivers/wire/heart-rate.ts";
import { LineReader } from "../../../../drivers/wire/lines.ts";
import { FrameReader as ZnpReader } from "../../../../drivers/zigbee/simulator/frame.ts";
import { exampleSets } from "../../../../testbed/example-sets.ts";
import { batchParsers } from "./batch-parsers.ts";

/** A parser that cuts what it finds out of a stream of bytes. */
export interface StreamParser {
  readonly name: string;
  /** Pieces of a stream, each with at least one thing to be found. */
  readonly samples: readonly Uint8Array[];
  /** Whether it finds its way again after anything; one without start marks may take garbage for a long packet. */
  readonly recovers: boolean;
  open(): OpenParser;
}

export interface OpenParser {
  /** Frames that the bytes completed. */
  push(chunk: Uint8Array): unknown[];
  /** Bytes held back, where it tells. */
  readonly held_bytes?: number;
}

/** A parser of messages that something else has cut out. Must never throw, whatever it is given. */
export interface MessageParser {
  readonly name: string;
  readonly samples: readonly Uint8Array[];
  parse(message: Uint8Array): unknown;
}

const address = bytesOf("5448e68f80a5");
const key = bytesOf("231d39c1d7cc1ab1aee224cd096db932");
const mac = "c0:ff:ee:00:00:01";

const requests = [
  encodeFrame(encodeRequest({ type: requestType.list }, 0x7e)),
  encodeFrame(encodeRequest({ type: requestType.status, mac }, 0x7d)),
  encodeFrame(encodeRequest({ type: requestType.events, mac, after: 0x117e7d13, max: 100 }, 3)),
  encodeFrame(encodeRequest({ type: requestType.setClock, mac, unix_s: 1_800_000_000 }, 4)),
];

export const streamParsers: readonly StreamParser[] = [
  {
    name: "replies of a pill box bridge",
    samples: samplesOf("pillbox"),
    recovers: true,
    open: () => frames(decodeReply),
  },
  {
    name: "requests to a pill box bridge",
    samples: requests,
    recovers: true,
    open: () => frames(decodeRequest),
  },
  {
    name: "lines of a watch",
    samples: samplesOf("watch"),
    recovers: true,
    open: () => {
      const found: unknown[] = [];
      const reader = new LineReader({
        line_max_bytes,
        onLine: (line) =>
          found.push(...[decodeLine(line)].filter((one) => one !== undefined && one.kind !== "other")),
        onOverlong: () => {},
      });
      return pushing(reader, found);
    },
  },
  {
    name: "frames of a simulated Zigbee coordinator",
    samples: [
      bytesOf("fe 00 21 01 20"),
      bytesOf("fe 1a 4481 0000 0005 2b1a 01 01 00 96 00 0d000000 00 09 19 01 00 21 00 00 17 00 00 57"),
    ],
    recovers: false,
    open: () => {
      const reader = new ZnpReader();
      return { push: (chunk) => reader.read(chunk) };
    },
  },
  {
    name: "packets of a Bluetooth controller",
    samples: [bytesOf("04 0e 04 01 03 0c 00"), bytesOf("02 40 20 07 00 03 00 04 00 0a 2a 00")],
    recovers: false,
    open: () => {
      const reader = new PacketReader("controller");
      return { push: (chunk) => reader.read(chunk).map((packet) => packet.toString("hex")) };
    },
  },
  {
    name: "packets of a Bluetooth host",
    samples: [encodeCommand(opcode.reset), bytesOf("02 40 00 07 00 03 00 04 00 0a 2a 00")],
    recovers: false,
    open: () => {
      const reader = new PacketReader("host");
      return { push: (chunk) => reader.read(chunk).map((packet) => packet.toString("hex")) };
    },
  },
];

export const messageParsers: readonly MessageParser[] = [
  ...batchParsers,
  {
    name: "payloads of replies of a pill box bridge",
    samples: payloads(samplesOf("pillbox")),
    parse: decodeReply,
  },
  { name: "payloads of requests to a pill box bridge", samples: payloads(requests), parse: decodeRequest },
  {
    name: "text of a watch's lines",
    samples: [
      Buffer.from('{"t":"act","ts":1800000000000,"stp":642,"hrm":97,"mov":311,"act":"WALKING"}'),
      Buffer.from('{"t":"actfetch","state":"end","count":2}'),
      Buffer.from('{"t":"status","bat":80,"chg":0}'),
    ],
    parse: (bytes) => decodeLine(new TextDecoder().decode(bytes)),
  },
  {
    name: "BTHome in plain text",
    samples: [bytesOf("44 00 07 01 5a 09 03 3d 2a00 50 00d2496b")],
    parse: (bytes) => decodeServiceData(bytes, { address }),
  },
  {
    name: "BTHome, encrypted",
    samples: [bytesOf("41 e445f3c9962b 33221100 6c7c4519")],
    parse: (bytes) => decodeServiceData(bytes, { address, key }),
  },
  {
    name: "BTHome objects",
    samples: [bytesOf("02ca09 03bf13"), bytesOf("00 07 01 5a 1a 01")],
    parse: decodeObjects,
  },
  {
    name: "weights of the standard profile",
    samples: [bytesOf("0e a03c ea07 0b 14 08 1e 00 01 f500 a406")],
    parse: decodeWeight,
  },
  {
    name: "body compositions",
    samples: [bytesOf("fe0f fa00 ea070b14081e00 01 401f 9001 e82e 1030 1027 2823 8813 a03c a406")],
    parse: decodeComposition,
  },
  { name: "battery levels", samples: [bytesOf("58")], parse: decodeBattery },
  { name: "heart rates", samples: [bytesOf("00 48"), bytesOf("01 4800")], parse: decodeHeart },
  { name: "current times", samples: [bytesOf("ea070b14081e00 05 00 00")], parse: decodeCurrentTime },
  { name: "consents", samples: [bytesOf("02 01 d204")], parse: decodeConsent },
  { name: "answers to consents", samples: [bytesOf("20 02 01")], parse: decodeUserResponse },
  {
    name: "Xiaomi v2 broadcasts",
    samples: [bytesOf("02 a2 ea07 0b 14 08 1e 00 f401 983a")],
    parse: decodeXiaomi,
  },
  {
    name: "Xiaomi S400 broadcasts",
    samples: [
      encodeS400(
        { profile: 1, stamp_s: 1_800_000_000, weight_g: 70_000, heartRate: 70 },
        { address, key },
        5,
      ),
    ],
    parse: (bytes) => decodeS400(bytes, { address, key }),
  },
  {
    name: "advertising data",
    samples: [bytesOf("02 01 06 0a 16 d2fc 40 00 07 01 5a 1a 01")],
    parse: decodeAdvertisingData,
  },
  {
    name: "units of the Security Manager",
    samples: [
      bytesOf("0204000d100003"),
      bytesOf(`0c${"5a".repeat(64)}`),
      bytesOf("0712340011223344556677"),
      bytesOf("0901bb1d1a17f2c4"),
      bytesOf("0b05"),
    ],
    parse: decodeSecurity,
  },
  {
    name: "body temperatures",
    samples: [bytesOf("00 72 01 00 ff"), bytesOf("02 72 01 00 ff ea 07 0b 16 14 1e 00")],
    parse: decodeTemperature,
  },
  {
    name: "ATT units",
    samples: [bytesOf("1b 2a00 0102"), bytesOf("11 06 0100 0500 0f18"), bytesOf("02 1700")],
    parse: decodeAtt,
  },
  // What follows the topic of each line; a topic is the broker's, and never mutated alone.
  ...hubs.map(({ title, prefix, read }) => ({
    name: `messages of ${title}`,
    samples: samplesOf("mqtt"),
    parse: (bytes: Uint8Array) => {
      const [topic = "", ...words] = new TextDecoder().decode(bytes).split(" ");
      const path = topic.split("/").slice(prefix.split("/").length);
      const payload = new TextEncoder().encode(words.join(" "));
      return [read({ path, topic, payload, localAddress: "02:00:00:00:00:0c" }, new Map())];
    },
  })),
  {
    name: "sizes of MQTT packets",
    samples: [bytesOf("20 02 0000"), bytesOf("30 80 01"), bytesOf("40 02 0001 d0 00")],
    parse: (bytes) => new PacketSizes().push(bytes),
  },
];

/** The bytes of a driver's examples. */
function samplesOf(driver: string): Uint8Array[] {
  return exampleSets
    .filter((set) => set.driver === driver)
    .flatMap(({ examples }) => examples.map(({ bytes }) => bytesOf(bytes)));
}

/** Payloads of frames. */
function payloads(lines: readonly Uint8Array[]): Uint8Array[] {
  const found: Uint8Array[] = [];
  const reader = new FrameReader({
    payload_max: payload_max_bytes,
    onPayload: (payload) => found.push(payload),
    onDiscarded: () => {},
  });
  for (const line of lines) reader.push(line);
  return found;
}

/** Frames on a line, and what is in them. */
function frames(decode: (payload: Uint8Array) => unknown): OpenParser {
  const found: unknown[] = [];
  const reader = new FrameReader({
    payload_max: payload_max_bytes,
    onPayload: (payload) => found.push(...[decode(payload)].filter((one) => one !== undefined)),
    onDiscarded: () => {},
  });
  return pushing(reader, found);
}

function pushing(
  reader: { push(chunk: Uint8Array): void; readonly held_bytes: number },
  found: unknown[],
): OpenParser {
  return {
    push: (chunk) => {
      reader.push(chunk);
      return found.splice(0);
    },
    get held_bytes() {
      return reader.held_bytes;
    },
  };
}
