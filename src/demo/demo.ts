import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import type { DriverDefinition } from "../../drivers/driver.ts";
import type { Clock } from "../clock.ts";
import type { Config } from "../config/config.ts";
import { ControlClient } from "../control/client.ts";
import { joining_seconds_max } from "../control/joining.ts";
import { day_ms } from "../day.ts";
import type { OperatorError } from "../errors.ts";
import { type Gateway, startGateway } from "../gateway.ts";
import type { Log } from "../log.ts";
import type { Reading } from "../reading.ts";
import type { ImportedRecord } from "../store/record-store.ts";
import { openGatewayStore } from "../store/sqlite/open.ts";
import { machineTimezone } from "../timezone.ts";
import { mintToken } from "../token.ts";
import { DemoAir } from "./air.ts";
import { DemoBridge } from "./bridge.ts";
import type { Buffers } from "./buffers.ts";
import { DemoCentral, tokenFile } from "./central-copy.ts";
import { demoHome, flat } from "./flat.ts";
import { appendHistory } from "./history.ts";
import { programmeRecords } from "./programme.ts";
import { DemoRadio } from "./radio.ts";
import { Random } from "./random.ts";
import { curtains } from "./walk.ts";

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
  readonly gateway: Gateway;
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
    // Before the gateway is there to listen: what it hears comes after the history.
    const buffers = await furnish(directory, options);
    const read = mintToken({ name: "demo", scope: "read", clock });
    const admin = mintToken({ name: "demo administration", scope: "admin", clock });
    const tokens = [read.token, admin.token];
    const central = await DemoCentral.start({
      directory,
      port: options.centralPort,
      home: demoHome,
      timezone: machineTimezone(),
      records: recordsSince(clock.now().unix_ms, options.days),
      tokens,
      clock,
      log,
      uploaded: (sent) => teller.uploaded(sent),
      onFailure: options.onFailure,
    });
    ends.push(() => central.stop());
    describe(directory, central.origin);
    const simulated = (file: string) => ({ clock, random, log, file: join(directory, file) });
    const radio = await DemoRadio.plugIn(simulated("demo-radio.json"));
    ends.push(() => radio.unplug());
    const bridge = await DemoBridge.plugIn({ ...simulated("demo-box.json"), buffer: buffers.box });
    ends.push(() => bridge.unplug());
    const air = await DemoAir.plugIn({ ...simulated("demo-air.json"), buffer: buffers.watch });
    ends.push(() => air.unplug());
    const sections = new Map<string, unknown>([
      ["zigbee", { port: radio.port, adapter: "zstack" }],
      ["pillbox", { port: bridge.port }],
      ["ble", air.section],
    ]);
    const gateway = await startGateway({
      config: configOf(directory, options.port, sections),
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
      central_url: central.url,
      token: read.text,
      admin_token: admin.text,
      play: () =>
        play({ directory, radio, bridge, air, gateway, clock, teller }).catch((error) => {
          // The end of the gateway is also the end of what was going on with it.
          if (!stopping) throw error;
        }),
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/**
 * The records of the home, and its history from where an earlier demo on the same data ended. Resolves with what the
 * devices have still to tell.
 */
async function furnish(
  directory: string,
  options: { clock: Clock; log: Log; days: number; teller: DemoTeller },
): Promise<Buffers> {
  const { clock, log, days } = options;
  const store = await openGatewayStore({
    directory,
    clock,
    log: log.named("store"),
    home: demoHome,
    timezone: machineTimezone(),
  });
  try {
    const now_ms = clock.now().unix_ms;
    const first_ms = now_ms - days * day_ms;
    const { items } = await store.overview();
    const newest = items.flatMap(({ series }) => series.map(({ newest_ms }) => newest_ms));
    if (items.length === 0) {
      await store.importRecords([recordsSince(now_ms, days)]);
    }
    return await appendHistory({
      store,
      resumed: items.length > 0,
      from_ms: Math.max(first_ms, ...newest.map((stamp_ms) => stamp_ms + 1)),
      until_ms: now_ms,
      seed,
      progress: options.teller.history,
    });
  } finally {
    await store.close();
  }
}

function recordsSince(now_ms: number, days: number): readonly ImportedRecord[] {
  const installed_ms = now_ms - days * day_ms;
  return programmeRecords({ installed_ms, now_ms, timezone: machineTimezone() });
}

/** A configuration beside the data: `lintel report` learns where the curtain sensors hang, `lintel upload` where central is. */
function describe(directory: string, central: string): void {
  const sensors = curtains.map(({ item, metres }) => `  { item = "${item}", metres = ${metres} },`);
  const lines = [
    "# The home of the demo, for other commands on its data; written anew at each start.",
    'data = "."',
    "",
    "[home]",
    `id = ${demoHome}`,
    `timezone = "${machineTimezone()}"`,
    "",
    "[walking]",
    "hall = [",
    ...sensors,
    "]",
    "",
    "[upload]",
    `url = "${central}"`,
    `token_file = "${tokenFile}"`,
    "",
  ];
  writeFileSync(join(directory, "lintel.toml"), lines.join("\n"));
}

async function play(options: {
  directory: string;
  radio: DemoRadio;
  bridge: DemoBridge;
  air: DemoAir;
  gateway: Gateway;
  clock: Clock;
  teller: DemoTeller;
}): Promise<void> {
  const { radio, bridge, air, teller } = options;
  const walked = listening(options.gateway, options.clock).then(() =>
    Promise.all([radio.live(), radio.missing > 0 ? letIn(options.directory, radio, teller) : undefined]),
  );
  await Promise.all([walked, bridge.live(), air.live()]);
}

/** Lets the sensors join as a technician does with `lintel pair`. */
async function letIn(directory: string, radio: DemoRadio, teller: DemoTeller): Promise<void> {
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
      const sensor = flat.find(({ address }) => address === step.address);
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
async function listening(gateway: Gateway, clock: Clock): Promise<void> {
  for (let tries = 0; tries < listening_tries_max; tries++) {
    const { drivers } = await gateway.status();
    const zigbee = drivers.find(({ name }) => name === "zigbee");
    if (zigbee?.state === "listening" || zigbee?.state === "stopped") return;
    await new Promise<void>((resolve) => void clock.after(listening_poll_ms, resolve));
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
            await host.accept(reading, cursor);
            live(reading);
          },
        },
      }),
  };
}

function configOf(directory: string, port: number, sections: ReadonlyMap<string, unknown>): Config {
  return {
    file: "the demo",
    data: directory,
    home: { id: demoHome, timezone: machineTimezone() },
    api: { hostname: "127.0.0.1", port, realm: "lintel" },
    drivers: sections,
    walking: [],
    warnings: [],
  };
}

/** Every demo is the same household. */
const seed = 1942;
const listening_poll_ms = 100;
/** A minute: a coordinator forms its network in about three seconds. */
const listening_tries_max = 600;
