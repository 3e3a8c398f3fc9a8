import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SignedBurnIn } from "../../../src/domain/burn-in.ts";
import { lintelHere } from "../../../testbed/command-here.ts";
import { type RunningServer, Site } from "../../../testbed/front-door.ts";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";
import { burnIn, kill } from "./bench.ts";

const site = new Site({ commands: lintelHere });
const central = join(site.directory, "central");
let stick: SimulatorProcess;
let server: RunningServer;
const sensors: string[] = [];

beforeAll(async () => {
  server = await site.central("--data", central);
  const words = ["token", "create", "box", "--scope", "sync", "--home", "12", "--json", "--data", central];
  const tokenFile = join(site.directory, "upload-token");
  writeFileSync(tokenFile, (await site.answer(...words)).token, { mode: 0o600 });
  stick = await site.simulator("zigbee");
  const upload = `[upload]\nurl = "${server.origin}"\ntoken_file = "${tokenFile}"`;
  site.configure({ sections: [`[home]\nid = 12`, upload, stick.section].join("\n") });
  await site.run();
  await site.listening();
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  for (const model of ["3041", "3011"]) {
    const { ieee } = await stick.tell({ do: "add", model });
    await stick.tell({ do: "join", ieee });
    await pair.line();
    sensors.push(ieee);
  }
  pair.kill("SIGINT");
  await pair.exited;
});
afterAll(() => site.remove());

const run = (words: readonly string[], does: Parameters<typeof burnIn>[2]) =>
  burnIn(site, ["--config", site.config, ...words], does);

/** Triggers each of some sensors ten times. */
async function trigger(of: readonly string[]): Promise<string> {
  for (let time = 1; time <= 10; time++)
    for (const ieee of of) await stick.tell({ do: "notify", ieee, status: 0x30 + (time % 2) });
  return "";
}

const replug = {
  "Pull out the stick of [zigbee]": async () => void (await stick.tell({ do: "unplug" })),
  "Plug it in again.": async () => void (await stick.tell({ do: "replug" })),
};

test("a good box passes each check that its technician does not skip, and the record says what was found", async () => {
  const first = await run(["--skip", "disk", "--reason", "another test"], {
    ...replug,
    "Press Enter when": () => trigger(sensors),
    "Now take the network away": () => kill,
  });
  expect(first.lines.at(-1)).toContain("Two minutes later give it the network again");
  const { port } = new URL(server.origin);
  const last = await run(["--skip", "clock", "--reason", "this machine keeps its power", "--json"], {
    "for a minute, or switch the router off": async () => void (await server.stop()),
    "The line is cut.": async () => {
      server = await site.serve([
        "central",
        "--data",
        central,
        "--port",
        port,
        "--listen",
        "127.0.0.1",
        "--json",
      ]);
      return undefined;
    },
  });
  expect(last.code).toBe(0);
  const { signed } = JSON.parse(last.lines.at(-1) ?? "{}") as SignedBurnIn;
  expect(signed.home).toBe(12);
  const found = Object.entries(signed.results).map(
    ([name, { outcome, found }]) => `${name} ${outcome}: ${found}`,
  );
  expect(found.sort()).toEqual([
    "clock skipped: this machine keeps its power",
    "disk skipped: another test",
    "power skipped: this machine does not tell whether its power supply is too weak.",
    expect.stringMatching(
      /^radio passed: Channel \d\d has 5\d of 255 of noise\. All 2 devices have a good way to the stick\.$/,
    ),
    "restore passed: A backup with all 20 readings was made and restored.",
    "sensors passed: Each of 2 sensors was heard 10 times.",
    "stick passed: After its stick was plugged in again, [zigbee] listened.",
    "upload passed: After the line was cut central had all 20 readings, and no day differed.",
  ]);
});

test("a sensor that is heard too rarely is named, and a deaf stick is", async () => {
  const few = await run(["--again", "sensors"], { "Press Enter when": () => trigger(sensors.slice(1)) });
  expect(few.code).toBe(1);
  expect(few.lines).toContain(
    "This box may not go to a home. Failed: Sensors. Skipped: Disk, Power supply, Clock.",
  );
  const [silent = ""] = sensors;
  expect(few.lines.join("\n")).toContain(
    `✗ Sensors: Of 10 times the box heard wirelesssensor-${silent.replaceAll(":", "")} 0 times.`,
  );
  const deaf = await run(["--again", "sensors"], { "Press Enter when": () => "" });
  expect(deaf.code).toBe(1);
  expect(deaf.lines.join("\n")).toContain(
    "✗ Sensors: [zigbee] heard none of its 2 sensors: its stick is deaf.\n  Of a single sensor:",
  );
});

test("noise is named: of the channel that the network has, and of all", async () => {
  const channels = Array.from({ length: 16 }, (_, at) => 11 + at);
  const said = async () => (await run(["--again", "radio"], {})).lines.join("\n");
  const [, own] = /✓ Radio: Channel (\d+) has/.exec(await said()) ?? [];
  await stick.tell({ do: "noise", channels: [Number(own)], energy: 201 });
  expect(await said()).toMatch(
    new RegExp(
      `✗ Radio: Channel ${own}, which the network has, has 20\\d of 255 of noise, and channel \\d+ only 5\\d\\.`,
    ),
  );
  await stick.tell({ do: "noise", channels, energy: 180 });
  expect(await said()).toMatch(
    /✗ Radio: Every channel has noise, channel 11 the least with 1\d\d of 255: it comes from the box itself/,
  );
});
