/**
 * A gateway without drivers, on the directory named first, in the home named second: takes in this many (fourth) states of a pill box and events of a sensor
 * in the past day, of which each state has the mark (third) in it, then says so and stays until it is killed. Addresses are of the home. Beside the store it
 * has a scan of the mesh and the record of an installation, with FILES, the home and the
 * minutes (fifth) in each, and a cursor with the mark.
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { clockQuality } from "../../src/base/clock.ts";
import { signedJson } from "../../src/base/signed-json.ts";
import { day_ms } from "../../src/base/time.ts";
import type { Acceptance } from "../../src/domain/acceptance.ts";
import { acceptancesBytes, acceptancesFile } from "../../src/domain/acceptance-file.ts";
import type { MeshScans } from "../../src/domain/mesh.ts";
import { meshFile } from "../../src/domain/mesh-file.ts";
import type { Device } from "../../src/domain/reading.ts";
import { boxKey } from "../../src/gateway/box-key.ts";
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
  const readings = [
    { device: box, series: "pillbox_status", ...at, values: status },
    { device: sensor, series: "wirelesssensor_events", ...at, values: { event: number } },
  ] as const;
  const of = { device: box, at_ms: at.stamp_ms, waits: false };
  await store.append(readings, {
    cursors: [{ name: "box", value: `${number} ${mark}`, bare: `${number}`, of }],
  });
}
const at_s = Math.floor(start_ms / 1000);
const record: Acceptance = {
  ...({ format: "lintel acceptance 1", number: 1, tester: `FILES${home}-${minutes}`, homeid: null } as const),
  ...{ timezone: "UTC", started: at_s, finished: at_s, release: "0.1.0", devices: [], lines: [] },
  ...{ clockknown: true, clockdoubt: null, paused: false, passed: true, faults: [] },
  upload: { url: null, sent: null, differingdays: null, failure: null },
};
const accepted = acceptancesBytes([{ ...signedJson(record, boxKey(directory)), nights: [] }]);
writeFileSync(join(directory, acceptancesFile), accepted);
const nodes = [{ address: `0x${home}`, role: "stick", model: `FILES${home}-${minutes}` }] as const;
const scans = { scans: [{ at_ms: start_ms, nodes: [...nodes], links: [] }] } satisfies MeshScans;
writeFileSync(join(directory, meshFile), JSON.stringify(scans));
stay();
