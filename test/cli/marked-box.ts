/**
 * A gateway without drivers, on the directory named first, in the home named second: takes in this many (fourth) states of a pill box and events of a sensor
 * in the past day, of which each state has the mark (third) in it, then says so and stays until it is killed. Addresses are of the home.
 */

import { clockQuality } from "../../src/base/clock.ts";
import { day_ms } from "../../src/base/time.ts";
import type { Device } from "../../src/domain/reading.ts";
import { openBox } from "./box-store.ts";

const [directory = "", home = "", mark = "", count = "", minutes = "0"] = process.argv.slice(2);
const { store, stay } = await openBox({ directory, home });
const box: Device = { kind: "pillboxes", address: `00:00:00:00:${home}:01`, subtype: "polled" };
const sensor: Device = { kind: "wirelesssensors", address: `00:00:00:00:00:00:${home}:02` };
const start_ms = Math.floor(Date.now() / 1000) * 1000 - day_ms + Number(minutes) * 60_000;
const states = { devicestamp: 1, voltage: 3_000, powersource: "battery", eventcount: 1, batteryseconds: "1" };
const panics = { macaddress: "", nextpanicstart: 1, nextpanicstop: 2 };
for (let number = 0; number < Number(count); number += 1) {
  const at = { stamp_ms: start_ms + number * 1000, clock: clockQuality.synchronised } as const;
  const status = { ...states, firmwarerevsion: `${mark}-${number}`, ...panics };
  await store.append([
    { device: box, series: "pillbox_status", ...at, values: status },
    { device: sensor, series: "wirelesssensor_events", ...at, values: { event: number } },
  ]);
}
stay();
