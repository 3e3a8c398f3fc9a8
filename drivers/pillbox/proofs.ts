import { clockQuality } from "../../src/base/clock.ts";
import { bytesOf, type ProvenTable } from "../wire/example.ts";
import { encodeFrame } from "../wire/hdlc.ts";
import { pillboxExamples } from "./examples.ts";
import { requestType, result } from "./protocol.ts";

const moment = { unix_ms: 1_800_003_600_500, monotonic_ms: 5_000, quality: clockQuality.synchronised };
const source = "README.md, link protocol version 1";
const mac = "c0ffee000001";
const head = "00d2496b b80b";
const tail = "2a000000 07000000 00cc4a6b 58ce4a6b 0700 00";
const status = (power: string) =>
  `devicestamp 1800000000 voltage 3000 powersource ${power} eventcount 42 batteryseconds 7 firmwarerevsion  macaddress c0:ff:ee:00:00:01 nextpanicstart 1800064000 nextpanicstop 1800064600`;
const events = `82 01 ${mac} 00 00d2496b 0700 01000000 01000000 01 01000000 00d2496b`;

/** Payloads of replies, without the frame around them. */
export const pillboxTables: readonly ProvenTable[] = [
  {
    name: "pillbox replies",
    rows: Object.keys(requestType),
    proofs: {
      status: [
        source,
        [`81 01 ${mac} 00 ${head} 00 ${tail}`, status("battery")],
        [`81 01 ${mac} 00 ${head} 01 ${tail}`, status("external_power")],
        [`81 01 ${mac} 00 ${head} 02 ${tail}`, ""],
      ],
      events: [
        source,
        [`${events} 01`, "event 1"],
        [`${events} 40`, "event 64"],
        [`${events} 7f`, "event 127"],
        [`${events} 00`, "event 0"],
      ],
      setClock: [source, [`83 01 ${mac} 00`, ""]],
      list: [source, [`84 01 01 ${mac} c4`, ""]],
    },
    moment,
    feed: (payload, host) => pillboxExamples.feed(encodeFrame(bytesOf(payload)), host),
  },
  {
    name: "pillbox results",
    rows: Object.keys(result),
    proofs: {
      ok: [source, [`82 01 ${mac} 00 00d2496b 0700 00000000 00000000 00`, ""], [`${events} 01`, "event 1"]],
      radioOff: [source, [`81 01 ${mac} 01 00cc4a6b 58ce4a6b`, ""]],
      unknownBox: [source, [`81 01 ${mac} 02`, ""]],
      badRequest: [source, [`81 01 ${mac} 03`, ""]],
    },
    moment,
    feed: (payload, host) => pillboxExamples.feed(encodeFrame(bytesOf(payload)), host),
  },
];
