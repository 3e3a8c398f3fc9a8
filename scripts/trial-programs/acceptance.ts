/**
 * The acceptance of a home on a phone of 390 px: once in order, and with thirteen traps, each of which the record has to name alone
 *
 *   ./scripts/trials acceptance [--only WORDS]
 *
 * A technician in Chromium sets up a home of six simulated sensors at the gateway that people start, beside a real central. After each trap he mends it, tries again, and
 * the home has to pass. Exits with 1 where a record names anything else.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromiumPath, noChromium, TestBrowser } from "../../testbed/browser.ts";
import { Site } from "../../testbed/front-door.ts";
import { endWith, optionsOf } from "../program-options.ts";
import { type Sensor, Technician } from "./acceptance/technician.ts";

const { only } = optionsOf("./scripts/trials acceptance [--only WORDS]   the traps with these words", {
  only: "",
});
if (chromiumPath === undefined) {
  console.error(`acceptance: ${noChromium}`);
  process.exit(2);
}
const two_years_ms = 730 * 86_400_000;
const faults: string[] = [];
let rights = 0;
const site = new Site();
const centralSite = new Site();

/** A fault of a visit, and the words by which the record names it. */
interface Trap {
  readonly words: RegExp;
  /** The sensor that answers in the place of another. */
  readonly answers?: ReadonlyMap<Sensor, Sensor>;
  /** Another act of a sensor than its task. */
  readonly instead?: ReadonlyMap<Sensor, (technician: Technician, sensor: Sensor) => Promise<void>>;
  /** Nobody tries it. */
  readonly untried?: Sensor | "way back";
  readonly before?: () => Promise<unknown>;
  readonly after?: () => Promise<unknown>;
}

try {
  const central = await centralSite.central("--data", centralSite.data);
  const uploadToken = join(site.directory, "upload-token");
  writeFileSync(uploadToken, await centralSite.token("--scope", "sync", "--home", "12"), { mode: 0o600 });
  const stick = await site.simulator("zigbee");
  const configure = (listen?: string) =>
    site.configure({
      ...(listen !== undefined && { listen }),
      sections: `[home]\nid = 12\ntimezone = "America/Los_Angeles"\n[zigbee]\nport = "${stick.path}"
[upload]\nurl = "${central.origin}"\ntoken_file = "${uploadToken}"`,
    });
  configure();
  let gateway = await site.run();
  const reading = await site.token();
  await site.listening("zigbee");
  await using browser = await TestBrowser.start();
  await using visit = await browser.visit({ locale: "en-GB", viewport: { width: 390, height: 844 } });
  await visit.page.goto(`${gateway.origin}/#token=${await site.token("--scope", "admin")}`);
  await visit.page.waitForSelector("main h1");
  const technician = new Technician(visit.page, gateway.origin, stick);
  const curtain = (name: string) => ({ model: "3045", room: "Hall", name });
  const [kitchen, bathroom, door, ...line] = (await technician.install([
    { model: "3041", room: "Kitchen", name: "Kitchen motion" },
    { model: "3041", room: "Bathroom", name: "Bathroom motion" },
    { model: "3011", room: "Entrance", name: "Entrance door" },
    ...["Hall curtain", "Hall curtain 2", "Hall curtain 3"].map(curtain),
  ])) as [Sensor, Sensor, Sensor, Sensor, Sensor, Sensor];
  await technician.measure(line);

  const visitHome = async ({ answers, instead, untried, before, after }: Partial<Trap>) => {
    await technician.open("test");
    const answering = (sensor: Sensor) => answers?.get(sensor) ?? sensor;
    const does = async (sensor: Sensor, task: (one: Sensor) => Promise<void>) => {
      if (sensor === untried) return;
      const other = instead?.get(sensor);
      await technician.try(sensor.name, () =>
        other === undefined ? task(answering(sensor)) : other(technician, sensor),
      );
      if (other === undefined && answering(sensor) === sensor) await technician.ticked(sensor.name);
    };
    for (const sensor of [kitchen, bathroom]) await does(sensor, (one) => technician.pass(one));
    await does(door, (one) => technician.openAndClose(one));
    for (const way of [line, line.toReversed()]) {
      if (way !== line && untried === "way back") continue;
      await technician.try(`Hall, from ${way[0]?.name}`, async () => {
        for (const sensor of way) {
          const other = instead?.get(sensor);
          if (other === undefined) await technician.pass(answering(sensor));
          else await other(technician, sensor);
          // A step to the next one.
          await Bun.sleep(400);
        }
      });
    }
    await before?.();
    await technician.finish();
    await after?.();
    const [kept] = await gateway.records<{ signed: { passed: boolean; faults: { what: string }[] } }[]>(
      "/homes/12/acceptances",
      reading,
    );
    if (kept === undefined) throw new Error("no record was kept");
    return kept.signed;
  };

  const nothing = async () => {};
  const battery = (sensor: Sensor, percent: number) => () =>
    stick.tell({ do: "battery", ieee: sensor.ieee, percent, mv: 20 * percent + 1_200 });
  const hang = (sensor: Sensor, quality: number) => async () => {
    await stick.tell({ do: "hang", ieee: sensor.ieee, quality });
    await technician.live(sensor);
  };
  const [, second, third] = line as [Sensor, Sensor, Sensor];
  const port = new URL(central.origin).port;
  /** Starts the gateway again at its address, as if the machine's clock had leapt by two years meanwhile. */
  const leap = async () => {
    // A page that is open would miss the gateway.
    await visit.page.goto("about:blank");
    await gateway.stop();
    configure(new URL(gateway.origin).host);
    const known = { unix_ms: Date.now() - two_years_ms, monotonic_ms: 1, boot: "before", confirmed: false };
    writeFileSync(join(site.data, "known-time.json"), JSON.stringify(known));
    gateway = await site.run();
    await site.listening("zigbee");
  };
  const traps: Readonly<Record<string, Trap>> = {
    "two motion sensors swapped": {
      words: /^(Kitchen|Bathroom) motion and (Kitchen|Bathroom) motion are swapped/,
      answers: new Map([
        [kitchen, bathroom],
        [bathroom, kitchen],
      ]),
    },
    "two sensors of the line swapped": {
      words: /^Hall curtain [23] and Hall curtain [23] are swapped/,
      answers: new Map([
        [second, third],
        [third, second],
      ]),
    },
    "a sensor asleep": {
      words: /^Bathroom motion did not answer/,
      instead: new Map([[bathroom, nothing]]),
    },
    "an empty battery": {
      words: /^The battery of Entrance door is nearly empty/,
      before: battery(door, 4),
      after: battery(door, 90),
    },
    "a sensor of the neighbour": { words: /^Entrance door was not tried: is it in this home/, untried: door },
    "a heartbeat instead of motion": {
      words: /^Kitchen motion was heard, but told of no task/,
      instead: new Map([[kitchen, (by: Technician, one: Sensor) => by.live(one)]]),
    },
    "a door that never closes": {
      words: /^Entrance door was heard, but told of no task/,
      instead: new Map([[door, (by: Technician, one: Sensor) => by.leaveOpen(one)]]),
    },
    "a sensor of the line that sees nobody": {
      words: /^Hall curtain 2 saw nobody in the walk along Hall/,
      instead: new Map([[second, nothing]]),
    },
    "one way alone": { words: /^The walk along Hall from Hall curtain 3 was not tried/, untried: "way back" },
    "a weak signal": {
      words: /^The signal of Bathroom motion is weak/,
      before: hang(bathroom, 20),
      after: hang(bathroom, 180),
    },
    "a clock that leapt": {
      words: /^The clock of the box is not known to be right/,
      before: leap,
      after: () => site.lintel("clock", "--confirm", "--data", site.data),
    },
    "central away": {
      words: /^Central did not take the upload/,
      before: () => central.stop(),
      after: () =>
        centralSite.serve([
          ...["central", "--listen", "127.0.0.1", "--port", port, "--json"],
          ...["--data", centralSite.data],
        ]),
    },
    "the stick pulled out": {
      words: /^Nothing is heard by \[zigbee\]/,
      before: () => stick.tell({ do: "unplug" }),
      after: async () => {
        await stick.tell({ do: "replug" });
        await site.listening("zigbee");
      },
    },
  };

  const hold = (what: string, isSo: boolean, told: readonly string[]) => {
    console.log(`${isSo ? "ok " : "NOT"} ${what}${told.length === 0 ? "" : `: ${told.join(" | ")}`}`);
    if (isSo) rights += 1;
    else faults.push(what);
  };
  const passes = async (what: string) => {
    const { passed, faults: found } = await visitHome({});
    hold(
      what,
      passed,
      found.map((one) => one.what),
    );
  };
  await passes("a good home passes");
  for (const [name, trap] of Object.entries(traps)) {
    if (!name.includes(only)) continue;
    const { passed, faults: found } = await visitHome(trap);
    const told = found.map((one) => one.what);
    hold(name, !passed && told.length > 0 && told.every((what) => trap.words.test(what)), told);
    await passes(`  mended`);
  }
  for (const fault of visit.faults) hold("nothing goes wrong in the browser", false, [fault]);
} finally {
  await site.remove();
  await centralSite.remove();
}
endWith("acceptance", { "records that are right": rights, "records that are not": faults.length }, faults);
