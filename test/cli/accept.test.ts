import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { readIfThere } from "../../src/base/disk/safe-files.ts";
import { isAsSigned } from "../../src/base/signed-json.ts";
import type { KeptAcceptance } from "../../src/domain/acceptance.ts";
import { visitFile } from "../../src/gateway/acceptance/visit-file.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
import { keptLog, sensor, sensorEvent } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { atTerminal } from "./burn-in/bench.ts";

const site = new Site();
const place = ["--data", site.data];
const clock = new SystemClock();
const [wall, door] = [sensor(1, { subtype: "wall" }), sensor(2, { subtype: "door" })];
let store: GatewayStore;
beforeAll(async () => {
  mkdirSync(site.data, { mode: 0o700 });
  store = await openGatewayStore({
    directory: site.data,
    clock,
    log: keptLog().log,
    home: 12,
    ...writerOfTests(),
  });
  const heard_ms = clock.now().unix_ms;
  for (const [device, name, room] of [
    [wall, "Kitchen motion", "Kitchen"],
    [door, "Front door", "Entrance"],
  ] as const) {
    await store.append([], { states: [{ device, heard_ms }] });
    await store.nameItem({ address: device.address, name, room, given_ms: heard_ms });
  }
});
afterAll(async () => {
  await store.close();
  await site.remove();
});

/** Once the technician has been asked for a device, it tells of what happens. */
async function happens(device: typeof wall, ...events: readonly number[]): Promise<void> {
  const asked = () => readIfThere(join(site.data, visitFile))?.includes(device.address);
  await eventually(async () => (asked() ? true : undefined), `the task of ${device.address}`);
  const at_ms = clock.now().unix_ms;
  await store.append(events.map((event, place) => sensorEvent(device, at_ms + place, event)));
}

test("a terminal asks for each device, leaves out what the technician leaves out, and names it in the signed record", async () => {
  const { lines, code } = await atTerminal(site, ["accept", ...place, "--tester", "Ann Lee"], {
    "Front door (Entrance): Open the door, and close it again. Press Enter": () => "s",
    "Kitchen motion (Kitchen): Walk past it. Press Enter": () => {
      void happens(wall, 0b10);
      return "";
    },
  });
  expect(code).toBe(1);
  const text = lines.join("\n");
  expect(text).toContain("✓ Kitchen motion (Kitchen) did it.");
  expect(text).toContain("Front door was not tried: is it in this home?");
  // No gateway runs here: nobody would hear the next event.
  expect(text).toContain("Not accepted, for several reasons. The first: The gateway does not run.");
  expect(text).toMatch(/Record 1, by Ann Lee, .* Signed by the key /);
});

test("the record is shown as it was signed, and a second visit goes on where the first one ended", async () => {
  const { lines } = await atTerminal(site, ["accept", ...place, "--tester", "Ann Lee"], {
    "Front door (Entrance)": () => {
      void happens(door, 1, 0);
      return "";
    },
  });
  expect(lines.join("\n")).not.toContain("Walk past it");
  const { code, out } = await site.lintel("accept", "--show", "--json", ...place);
  expect(code).toBe(1);
  const record = JSON.parse(out) as KeptAcceptance;
  expect(isAsSigned(record)).toBe(true);
  expect(record.signed).toMatchObject({ number: 2, tester: "Ann Lee" });
  expect(record.signed.faults.map(({ what }) => what)).toEqual(["The gateway does not run."]);
});

test("with --data it uploads as the configuration of that directory says", async () => {
  writeFileSync(
    join(site.data, "lintel.toml"),
    `data = "${site.data}"\n[upload]\nurl = "http://127.0.0.1:9"\ntoken_file = "no-such-token"\n`,
  );
  const { out } = await site.lintel("accept", "--json", ...place, "--tester", "Ann Lee");
  const { signed } = JSON.parse(out) as KeptAcceptance;
  expect(signed.upload.url).toBe("http://127.0.0.1:9");
  expect(signed.upload.failure).toContain("no-such-token");
});
