import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DriverDefinition } from "../../drivers/driver.ts";
import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { day_ms } from "../base/time.ts";
import { machineTimezone } from "../base/timezone.ts";
import type { Reading } from "../domain/reading.ts";
import { mintToken } from "../domain/token.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { type RunningGateway, startGateway } from "../gateway/gateway.ts";
import { joining_seconds_max, openAlready } from "../gateway/joining/joining.ts";
import type { ImportStore } from "../import/import-ledger.ts";
import { openGatewayStore } from "../store/sqlite/open-store.ts";
import { plugInBleDevices } from "./ble-devices.ts";
import { type DemoCentral, PastClock, startDemoCentral, tokenFile } from "./demo-central.ts";
import { curtains, demoHome, sensors } from "./devices.ts";
import { appendHistory, type Buffers } from "./history.ts";
import { neighbourRecords, openPastNights } from "./neighbours.ts";
import { type DemoHomeRecords, importProgramme, prescribeDoses } from "./programme.ts";
import { Random } from "./random.ts";
import { type DemoZigbeeRadio, Pauses, plugInPillBoxBridge, plugInZigbeeRadio } from "./simulated-sticks.ts";

/** Receiver of the demo's progress, while it starts and while it runs. */
export interface DemoTeller {
  /** Days of history on disk, of how many. */
  history(done: number, days: number): void;
  /** A sensor that the gateway has let in. */
  joined(name: string): void;
  /** A reading of a live device that is on disk and readable now. */
  live(reading: Reading): void;
  /** Readings that the central copy has got with an upload. */
  uploaded(sent: number): void;
}

export interface Demo {
  readonly gateway: RunningGateway;
  /** The gateway's data directory. */
  readonly directory: string;
  /** Where the API of the central copy is. */
  readonly central_url: string;
  /** Secrets that ask both APIs: one reads, the other may administer. */
  readonly token: string;
  readonly admin_token: string;
  /** Lets the sensors join and somebody live in the flat. Resolves when the demo is stopped. */
  play(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * The whole job on one machine with nothing plugged in: a gateway with the real drivers, on simulated
 * radios that speak the bytes of real ones, beside `days` of plausible history; and the central server that it
 * uploads to.
 *
 * @param options.directory data directory to keep; absent: a fresh one that is removed at the end
 */
export async function startDemo(options: {
  clock: Clock;
  log: Log;
  drivers: readonly DriverDefinition[];
  teller: DemoTeller;
  days: number;
  /** The address that both servers listen on. */
  hostname: string;
  port: number;
  centralPort: number;
  directory?: string;
  onFailure: (fault: OperatorError) => void;
}): Promise<Demo> {
  const { clock, log, teller } = options;
  const kept = options.directory === undefined ? undefined : resolve(options.directory);
  const directory = kept ?? mkdtempSync(join(tmpdir(), "lintel-demo-"));
  const ends: (() => Promise<void>)[] = [];
  if (kept === undefined) ends.push(async () => rmSync(directory, { recursive: true, force: true }));
  let stopping = false;
  const stop = async () => {
    stopping = true;
    for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
  };
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const random = new Random(seed);
    const pauses = new Pauses(clock);
    const now_ms = clock.now().unix_ms;
    const installed_ms = now_ms - options.days * day_ms;
    const timezone = machineTimezone();
    const programme = (store: ImportStore, others?: DemoHomeRecords) =>
      importProgramme(store, { installed_ms, now_ms, timezone, others });
    const read = mintToken({ name: "demo", scope: "read", clock });
    const admin = mintToken({ name: "demo administration", scope: "admin", clock });
    const tokens = [read.token, admin.token];
    const past = new PastClock(clock);
    past.set(installed_ms);
    const central = await startDemoCentral({
      directory,
      listen: { hostname: options.hostname, port: options.centralPort },
      home: demoHome,
      timezone,
      walking,
      importProgramme: (store) => programme(store, neighbourRecords({ installed_ms, timezone })),
      tokens,
      clock: past,
      log,
      uploaded: (sent) => teller.uploaded(sent),
      onFailure: options.onFailure,
    });
    ends.push(() => central.stop());
    const furnishing = { ...options, directory, now_ms, programme };
    // Before the gateway is there to listen: what it hears comes after the history.
    const buffers = await furnish({ ...furnishing, installed_ms, central, past });
    describe(directory, timezone, central.target.url);
    const plugged = (file: string) => ({ clock, random, pauses, log, file: join(directory, file) });
    const radio = await plugInZigbeeRadio(plugged("demo-radio.json"));
    ends.push(() => radio.unplug());
    const bridge = await plugInPillBoxBridge({ ...plugged("demo-box.json"), buffer: buffers.box });
    ends.push(() => bridge.unplug());
    const ble = await plugInBleDevices({ ...plugged("demo-ble.json"), buffer: buffers.watch });
    ends.push(() => ble.unplug());
    ends.push(async () => pauses.stop());
    const sections = new Map<string, unknown>([
      ["zigbee", { port: radio.port, adapter: "zstack" }],
      ["pillbox", { port: bridge.port }],
      ["ble", ble.section],
    ]);
    const gateway = await startGateway({
      config: {
        file: "the demo",
        data: directory,
        home: { id: demoHome, timezone },
        api: { hostname: options.hostname, port: options.port, realm: "lintel" },
        upload: central.target,
        drivers: sections,
        walking,
        warnings: [],
      },
      clock,
      log,
      drivers: options.drivers.map((definition) => tapped(definition, (reading) => teller.live(reading))),
      onFailure: options.onFailure,
    });
    ends.push(() => gateway.stop());
    for (const token of tokens) await gateway.store.addToken(token);
    central.begin();
    return {
      gateway,
      directory,
      central_url: central.url,
      token: read.text,
      admin_token: admin.text,
      play: async () => {
        const sensing = listening(gateway, pauses).then(() =>
          Promise.all([
            radio.live(),
            letAllIn({ directory, gateway, radio, pauses, teller }).then(radio.unpack),
          ]),
        );
        try {
          await Promise.all([sensing, bridge.live(), ble.live()]);
        } catch (error) {
          // The end of the gateway is also the end of what was going on with it.
          if (!stopping) throw error;
        }
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The records of the home, and its history from where an earlier demo on the same data ended. Resolves with what the
 * devices have still to tell. Central has each night of the history, of this home and of its neighbours.
 */
async function furnish(options: {
  directory: string;
  clock: Clock;
  log: Log;
  installed_ms: number;
  now_ms: number;
  programme: (store: ImportStore) => Promise<void>;
  central: DemoCentral;
  past: PastClock;
  teller: DemoTeller;
}): Promise<Buffers> {
  const { directory, clock, installed_ms, now_ms, central, past } = options;
  const log = options.log.named("store");
  const store = await openGatewayStore({ directory, clock, log, home: demoHome });
  try {
    const { items } = await store.overview();
    const newest = items.flatMap(({ series }) => series.map(({ newest_ms }) => newest_ms));
    if (items.length === 0) {
      await options.programme(store);
      await prescribeDoses(store, installed_ms);
    }
    await using nights = await openPastNights({ central, past, until_ms: now_ms, directory, clock, log });
    return await appendHistory({
      store,
      resumed: items.length > 0,
      from_ms: Math.max(installed_ms, ...newest.map((stamp_ms) => stamp_ms + 1)),
      until_ms: now_ms,
      seed,
      progress: options.teller.history,
      evening: (midnight_ms) => nights.evening(midnight_ms),
    });
  } finally {
    await store.close();
  }
}

const walking = [{ name: "hall", sensors: curtains }];

/** A configuration beside the data: `lintel report` learns where the curtain sensors hang, `lintel upload` where central is. */
function describe(directory: string, timezone: string, central: string): void {
  const row = curtains.map(({ item, metres }) => `  { item = "${item}", metres = ${metres} },`);
  const lines = [
    "# The home of the demo, for other commands on its data; written anew at each start.",
    'data = "."',
    "",
    "[home]",
    `id = ${demoHome}`,
    `timezone = "${timezone}"`,
    "",
    "[walking]",
    "hall = [",
    ...row,
    "]",
    "",
    "[upload]",
    `url = "${central}"`,
    `token_file = "${tokenFile}"`,
    "",
  ];
  writeFileSync(join(directory, "lintel.toml"), lines.join("\n"));
}

/** Lets the sensors of the home in, also where somebody has opened joining before. */
async function letAllIn(of: {
  directory: string;
  gateway: RunningGateway;
  radio: DemoZigbeeRadio;
  pauses: Pauses;
  teller: DemoTeller;
}): Promise<void> {
  const { directory, gateway, radio, pauses, teller } = of;
  for (let tries = 0; radio.missing() > 0 && !pauses.stopped && tries < openings_max; tries++) {
    if ((await gateway.status()).joining)
      await radio.joinAll(async () => void (await pauses.pause(interview_ms)));
    else
      await letIn(directory, radio, teller).catch((thrown) => {
        if (!(thrown instanceof OperatorError) || thrown.what !== openAlready) throw thrown;
        return pauses.pause(listening_poll_ms);
      });
  }
}

/** Lets the sensors join as a technician does with `lintel pair`. */
async function letIn(directory: string, radio: DemoZigbeeRadio, teller: DemoTeller): Promise<void> {
  const client = new ControlClient(directory);
  const waiting = new Map<string, () => void>();
  let closed = false;
  let joining = Promise.resolve();
  for await (const step of client.joining(joining_seconds_max)) {
    if (step.state === "open") {
      joining = radio
        .joinAll((address) =>
          closed ? Promise.resolve() : new Promise((resolve) => waiting.set(address, resolve)),
        )
        .then(() => (closed ? undefined : client.closeJoining()));
    } else if (step.state === "joined" || step.state === "failed") {
      const sensor = sensors.find(({ address }) => address === step.address);
      if (step.state === "joined" && sensor !== undefined) teller.joined(sensor.name);
      waiting.get(step.address)?.();
    } else if (step.state === "closed") {
      closed = true;
      for (const resolve of waiting.values()) resolve();
    }
  }
  await joining;
}

/** Waits until the Zigbee driver hears its stick. */
async function listening(gateway: RunningGateway, pauses: Pauses): Promise<void> {
  for (let tries = 0; tries < listening_tries_max; tries++) {
    const { drivers } = await gateway.status();
    const zigbee = drivers.find(({ name }) => name === "zigbee");
    if (zigbee?.state === "listening" || zigbee?.state === "stopped") return;
    await pauses.pause(listening_poll_ms);
  }
}

/** The driver, with every reading that it has got on disk told to `live`. */
function tapped(definition: DriverDefinition, live: (reading: Reading) => void): DriverDefinition {
  return {
    ...definition,
    create: ({ config, host }) =>
      definition.create({
        config,
        host: {
          ...host,
          accept: async (reading, cursor) => {
            const isRecorded = await host.accept(reading, cursor);
            if (isRecorded) live(reading);
            return isRecorded;
          },
        },
      }),
  };
}

/** Openings in which the sensors may come in: others may close them at once. */
const openings_max = 100;
/** A sensor is asked what it is for less than this. */
const interview_ms = 500;
/** Every demo is the same household. */
const seed = 1942;
const listening_poll_ms = 100;
/** A minute: a coordinator forms its network in about three seconds. */
const listening_tries_max = 600;
