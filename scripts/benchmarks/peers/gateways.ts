import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { quantile, type Report } from "../api/report.ts";
import { memoryOf } from "../memory/samples.ts";
import { evenly, StickHome } from "../stick/home.ts";
import { Zigbee2Mqtt } from "../stick/zigbee2mqtt.ts";

/**
 * A gateway of a home and Zigbee2MQTT, one after the other, each with twenty sensors around the same simulated stick: how long a notification takes, what
 * a day of them leaves in memory, and how many are lost when the process is killed. A notification is through when a client of each has it: from a
 * page of the API, where it is on disk, or as a message of the broker, which nobody has to keep.
 */
export async function gateways(report: Report, { quick }: { quick: boolean }): Promise<void> {
  const rounds = quick ? { events: 10, bursts: 2, restarts: 1 } : { events: 120, bursts: 20, restarts: 10 };
  const ours = await measured(await LintelSide.start(), rounds);
  const other = await Zigbee2MqttSide.start();
  if (other === undefined) {
    report.absent("Zigbee2MQTT", "sudo apt-get install nodejs npm; npm then installs it");
    for (const [what, figure] of Object.entries(ours)) report.figure(what, figure);
    return;
  }
  const { name } = other;
  const theirs = await measured(other, rounds);
  for (const [what, figure] of Object.entries(ours))
    report.beside(what, figure, { name, figure: theirs[what] ?? Number.NaN });
}

/** Either gateway, with what is around it. */
interface Side {
  readonly name: string;
  readonly pid: number;
  readonly stick: ZnpSimulator;
  readonly sensors: readonly SimulatedDevice[];
  /** Has a sensor notify: milliseconds from the last byte on the line until a client has it. */
  through(sensor: SimulatedDevice, status: number): Promise<number>;
  /** How many notifications of a sensor have come through, each counted once. */
  count(sensor: SimulatedDevice): Promise<number>;
  kill(): Promise<void>;
  /** Starts it after that until it says that it listens: how many starts came to nothing before. */
  again(): Promise<number>;
  close(): Promise<unknown>;
}

type Rounds = Readonly<Record<"events" | "bursts" | "restarts", number>>;

async function measured(side: Side, rounds: Rounds): Promise<Record<string, number>> {
  try {
    const [talker, ...others] = side.sensors as [SimulatedDevice, ...SimulatedDevice[]];
    const statuses = counting();
    const took: number[] = [];
    for (let event = 0; event < rounds.events; event += 1) {
      await Bun.sleep(500 + Math.random() * 1_000);
      took.push(await side.through(others[event % others.length] ?? talker, statuses()));
    }
    await dayOf(side, statuses);
    const { rss_mb } = memoryOf(side.pid);
    const [burst, talk] = [
      await bursts(side, talker, { statuses, rounds: rounds.bursts }),
      await talks(side, talker, { statuses, rounds: rounds.restarts }),
    ];
    return {
      "from the last byte on the line until a client has it, median, ms": quantile(took, 0.5),
      "the same, 99 of 100, ms": quantile(took, 0.99),
      "resident after a day of 20 sensors, MB": rss_mb,
      [`lost of what was sent when killed in a burst of ${burst_per_s} a second, %`]:
        (burst.lost / burst.sent) * 100,
      "lost of a sensor that talks 10 times a second, for each kill and start": talk.lost / rounds.restarts,
      "starts after a kill that came to nothing and were repeated": burst.failed + talk.failed,
    };
  } finally {
    await side.close();
  }
}

/** Numbers that no sensor has as its status at rest. */
function counting(): () => number {
  let status = first_status;
  return () => status++;
}

/** 150 notifications of each sensor, 600 a second. */
async function dayOf(side: Side, statuses: () => number): Promise<void> {
  const { sensors } = side;
  await evenly(600, 150 * sensors.length, (place) => sensors[place % sensors.length]?.notify(statuses()));
  await settled(side, side.sensors[0] as SimulatedDevice);
}

/** Lost of what a sensor says in a burst, each time until the gateway is killed. */
async function bursts(
  side: Side,
  talker: SimulatedDevice,
  { statuses, rounds }: { statuses: () => number; rounds: number },
) {
  const before = await settled(side, talker);
  let [sent, failed] = [0, 0];
  for (let round = 0; round < rounds; round += 1) {
    const until = 50 + Math.floor(Math.random() * 200);
    await evenly(burst_per_s, until, () => talker.notify(statuses()));
    sent += until;
    await side.stick.drained();
    await cut(side);
    failed += await side.again();
    console.log(`  ${side.name}: killed after ${sent} in bursts`);
  }
  return { sent, failed, lost: sent - ((await settled(side, talker)) - before) };
}

/** Lost of what a sensor says ten times a second, while the gateway is killed and at once started again. */
async function talks(
  side: Side,
  talker: SimulatedDevice,
  { statuses, rounds }: { statuses: () => number; rounds: number },
) {
  const before = await settled(side, talker);
  let [sent, failed] = [0, 0];
  let heard = true;
  side.stick.onRequest = () => {
    heard = true;
  };
  const tell = () => {
    sent += 1;
    // A stick whose port nobody has open keeps nothing.
    if (heard) talker.notify(statuses());
  };
  for (let round = 0; round < rounds; round += 1) {
    const talking = setInterval(tell, 100);
    await Bun.sleep(1_000 + Math.random() * 100);
    await cut(side);
    heard = false;
    failed += await side.again();
    await Bun.sleep(2_000);
    clearInterval(talking);
    console.log(`  ${side.name}: killed ${round + 1} times while a sensor talks`);
  }
  return { sent, failed, lost: sent - ((await settled(side, talker)) - before) };
}

/** Kills the gateway; bytes that it has not read are gone, as with a serial port that is closed. */
async function cut(side: Side): Promise<void> {
  await side.kill();
  await side.stick.unplug();
  await side.stick.replug();
}

/** How many have come through once no more do. */
async function settled(side: Side, sensor: SimulatedDevice): Promise<number> {
  let [count, since_ms] = [await side.count(sensor), performance.now()];
  while (performance.now() - since_ms < settled_ms) {
    await Bun.sleep(100);
    const now = await side.count(sensor);
    if (now !== count) [count, since_ms] = [now, performance.now()];
  }
  return count;
}

/** A little less than a serial line of 115,200 baud carries. */
const burst_per_s = 350;
const first_status = 0x400;
const settled_ms = 2_000;
const sensor_count = 20;

class LintelSide implements Side {
  readonly name = "Lintel";

  private constructor(private readonly home: StickHome) {}

  static async start(): Promise<LintelSide> {
    return new LintelSide(await StickHome.start(sensor_count));
  }

  get pid(): number {
    return this.home.gateway.process.pid;
  }

  get stick(): ZnpSimulator {
    return this.home.stick;
  }

  get sensors(): readonly SimulatedDevice[] {
    return this.home.sensors;
  }

  through(sensor: SimulatedDevice, status: number): Promise<number> {
    return this.home.untilServed(sensor, status);
  }

  async count(sensor: SimulatedDevice): Promise<number> {
    const events = await this.home.gateway.events(this.home.nameOf(sensor), this.home.token);
    const told = events.map(({ event }) => event).filter((status) => status >= first_status);
    const once = new Set(told);
    if (once.size < told.length) throw new Error("a notification was recorded twice");
    return once.size;
  }

  async kill(): Promise<void> {
    await this.home.gateway.stop("SIGKILL");
  }

  async again(): Promise<number> {
    // One that does not start ends the benchmark.
    await this.home.again();
    return 0;
  }

  close(): Promise<number> {
    return this.home.close();
  }
}

class Zigbee2MqttSide implements Side {
  readonly #counts = new Map<string, number>();

  private constructor(
    private readonly it: Zigbee2Mqtt,
    readonly stick: ZnpSimulator,
    readonly sensors: readonly SimulatedDevice[],
    private readonly directory: string,
  ) {
    it.onState = (ieee) => void this.#counts.set(ieee, (this.#counts.get(ieee) ?? 0) + 1);
  }

  static async start(): Promise<Zigbee2MqttSide | undefined> {
    const directory = mkdtempSync(join(tmpdir(), "lintel-bench-stick-"));
    const stick = await ZnpSimulator.listen({
      transport: "pty",
      link: join(directory, "stick"),
      random: (length) => crypto.getRandomValues(new Uint8Array(length)),
    });
    const it = await Zigbee2Mqtt.start(stick.path);
    if (it === undefined) {
      await stick.close();
      rmSync(directory, { recursive: true });
      return undefined;
    }
    const sensors = Array.from({ length: sensor_count }, () => stick.addDevice({ model: "3041" }));
    await it.letIn(sensors);
    return new Zigbee2MqttSide(it, stick, sensors, directory);
  }

  get name(): string {
    return this.it.name;
  }

  get pid(): number {
    return this.it.pid;
  }

  async through(sensor: SimulatedDevice, status: number): Promise<number> {
    const before = this.#counts.get(sensor.ieee) ?? 0;
    sensor.notify(status);
    await this.stick.drained();
    const written_ms = performance.now();
    while ((this.#counts.get(sensor.ieee) ?? 0) === before) {
      if (performance.now() - written_ms > 10_000) throw new Error(`status ${status} was never published`);
      await Bun.sleep(1);
    }
    return performance.now() - written_ms;
  }

  async count(sensor: SimulatedDevice): Promise<number> {
    return this.#counts.get(sensor.ieee) ?? 0;
  }

  kill(): Promise<void> {
    return this.it.kill();
  }

  again(): Promise<number> {
    return this.it.again();
  }

  async close(): Promise<void> {
    await this.it.close();
    await this.stick.close();
    rmSync(this.directory, { recursive: true });
  }
}
