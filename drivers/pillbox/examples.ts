import { clockQuality } from "../../src/base/clock.ts";
import type { ExampleSet } from "../wire/example.ts";
import { FrameReader } from "../wire/hdlc.ts";
import { BoxClock } from "./box-clock.ts";
import { decodeReply, type Events, payload_max_bytes, type Reply } from "./protocol.ts";
import { boxDevice, eventReading, statusReading } from "./readings.ts";

const moment = { unix_ms: 1_800_003_600_500, monotonic_ms: 5_000, quality: clockQuality.synchronised };
const mac = "c0:ff:ee:00:00:01";
const device = boxDevice(mac);

/** Replies of a bridge, frames and all. */
export const pillboxExamples: ExampleSet = {
  driver: "pillbox",
  moment,
  examples: [
    {
      name: "the status of a box whose clock is an hour behind",
      bytes:
        "7e 81 01 c0ffee000001 00 00d2496b b80b 01 2a000000 00000000 00cc4a6b 58ce4a6b 0700 05 312e342e32 a7c3 7e",
      readings: [
        {
          device,
          series: "pillbox_status",
          stamp_ms: moment.unix_ms,
          clock: clockQuality.synchronised,
          deviceClock: { stamp_ms: 1_800_000_000_000, offset_ms: 3_600_500 },
          values: {
            devicestamp: 1_800_000_000,
            voltage: 3_000,
            powersource: "external_power",
            eventcount: 42,
            batteryseconds: "0",
            firmwarerevsion: "1.4.2",
            macaddress: mac,
            nextpanicstart: 1_800_064_000,
            nextpanicstop: 1_800_064_600,
          },
        },
      ],
    },
    {
      name: "two events, of Sunday's door ten minutes and five minutes before the reply",
      bytes:
        "7e 82 02 c0ffee000001 00 00d2496b 0700 29000000 2a000000 02 29000000 a8cf496b 01 2a000000 d4d0496b 00 df7d5d 7e",
      readings: [
        {
          device,
          series: "pillbox_events",
          stamp_ms: 1_800_003_000_500,
          clock: clockQuality.device,
          deviceClock: { stamp_ms: 1_799_999_400_000, offset_ms: 3_600_500 },
          values: { event: 1 },
        },
        {
          device,
          series: "pillbox_events",
          stamp_ms: 1_800_003_300_500,
          clock: clockQuality.device,
          values: { event: 0 },
        },
      ],
    },
    {
      name: "a list, and a box whose radio is off: no readings",
      bytes: "7e 84 03 01 c0ffee000001 c4 3549 7e 7e 81 04 c0ffee000001 01 00cc4a6b 58ce4a6b 010a 7e",
      readings: [],
    },
  ],
  feed: async (bytes, host) => {
    const replies: Reply[] = [];
    const reader = new FrameReader({
      payload_max: payload_max_bytes,
      onPayload: (payload) =>
        replies.push(...[decodeReply(payload)?.reply].filter((reply) => reply !== undefined)),
      onDiscarded: (what, count) => host.dropped(what, count),
    });
    reader.push(bytes);
    for (const reply of replies) {
      if ("status" in reply) await host.accept(statusReading(reply.mac, reply.status, moment));
      if ("events" in reply)
        for (const reading of eventReadings(reply.mac, reply.events)) await host.accept(reading);
    }
  },
};

function eventReadings(from: string, { devicestamp, boot, events }: Events) {
  const clock = new BoxClock().measured([devicestamp, moment.unix_ms], boot);
  const dated = clock.date(
    events.map(({ stamp }) => stamp),
    { stamp_s: devicestamp, at_ms: moment.unix_ms, after_ms: 0 },
  );
  return events.flatMap((event, index) => {
    const date = dated[index];
    return date === undefined ? [] : [eventReading(from, event, date)];
  });
}
