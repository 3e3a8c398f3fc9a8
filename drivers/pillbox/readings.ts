import { clockQuality, type Moment } from "../../src/base/clock.ts";
import type { DeviceFacts } from "../../src/domain/device-facts.ts";
import type { Device, Reading } from "../../src/domain/reading.ts";
import type { Product } from "../driver.ts";
import type { Dated } from "./box-clock.ts";
import type { BoxEvent, Status } from "./protocol.ts";

export function boxDevice(mac: string): Device {
  return { kind: "pillboxes", address: mac, subtype: "polled" };
}

export const boxFacts: DeviceFacts = {
  description: "pill box with seven doors that keeps its events until it is asked",
  events: {
    form: "received",
    from: "states of the doors in the buffer of the box, stamped by its own clock",
  },
  battery: "mV",
};

export const products: readonly Product[] = [
  {
    name: "Pill boxes that are polled, behind a radio bridge",
    needs: "`[pillbox] port`, of a bridge that speaks the protocol of drivers/pillbox",
    series: ["pillbox_events", "pillbox_status"],
    facts: boxFacts,
  },
];

/** A status as its reply brought it: its times stay by the box's own clock. */
export function statusReading(mac: string, status: Status, moment: Moment): Reading {
  const devicestamp_ms = status.devicestamp * 1000;
  return {
    device: boxDevice(mac),
    series: "pillbox_status",
    stamp_ms: moment.unix_ms,
    clock: moment.quality,
    monotonic_ms: moment.monotonic_ms,
    deviceClock: { stamp_ms: devicestamp_ms, offset_ms: moment.unix_ms - devicestamp_ms },
    values: {
      devicestamp: status.devicestamp,
      voltage: status.voltage_mv,
      powersource: status.power,
      eventcount: status.eventcount,
      batteryseconds: String(status.batteryseconds),
      firmwarerevsion: status.firmware.slice(0, firmware_length_max),
      macaddress: mac,
      nextpanicstart: status.nextpanicstart,
      nextpanicstop: status.nextpanicstop,
    },
  };
}

export function eventReading(mac: string, event: BoxEvent, { time_ms, measured }: Dated): Reading {
  return {
    ...partsOf(mac, event, time_ms),
    clock: measured ? clockQuality.device : clockQuality.deviceUnmeasured,
  };
}

/** An event that is only known to lie so long before a moment, while the gateway's own clock is not known. */
export function relativeEventReading(mac: string, event: BoxEvent, age_ms: number, moment: Moment): Reading {
  return {
    ...partsOf(mac, event, moment.unix_ms - age_ms),
    clock: moment.quality,
    monotonic_ms: moment.monotonic_ms - age_ms,
  };
}

function partsOf(mac: string, event: BoxEvent, stamp_ms: number): Omit<Reading, "clock"> {
  return {
    device: boxDevice(mac),
    series: "pillbox_events",
    stamp_ms,
    deviceClock: { stamp_ms: event.stamp * 1000, offset_ms: stamp_ms - event.stamp * 1000 },
    values: { event: event.doors },
  };
}

const firmware_length_max = 100;
