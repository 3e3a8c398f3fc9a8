import { join } from "node:path";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { type RunningServer, Site } from "../../../testbed/front-door.ts";

/**
 * A home with wall sensors, whose gateway was started as people start it: `scripts/lintel`, nothing in the environment but
 * PATH and HOME, a stick on a pty, sensors let in by `lintel pair`. The simulated stick is in this process, which so
 * knows when the last byte of a frame was written.
 */
export class StickHome {
  private constructor(
    readonly site: Site,
    readonly stick: ZnpSimulator,
    public gateway: RunningServer,
    readonly token: string,
    readonly sensors: readonly SimulatedDevice[],
  ) {}

  /**
   * @param home.site where it is, if not on a machine of its own; removed at the end
   * @param home.sections of the configuration besides the stick's
   * @param home.ieeeOf address of a sensor by its place, if it matters
   */
  static async start(
    sensor_count: number,
    home: { site?: Site; sections?: string; ieeeOf?: (index: number) => string } = {},
  ): Promise<StickHome> {
    const { site = new Site(), sections = "", ieeeOf } = home;
    const stick = await ZnpSimulator.listen({
      transport: "pty",
      link: join(site.directory, "stick"),
      random: (length) => crypto.getRandomValues(new Uint8Array(length)),
    });
    try {
      site.configure({ sections: `[zigbee]\nport = "${stick.path}"\nadapter = "zstack"\n${sections}` });
      const gateway = await site.run();
      const token = await site.token();
      await site.listening("zigbee");
      const sensors = Array.from({ length: sensor_count }, (_, index) =>
        stick.addDevice({ model: "3041", ...(ieeeOf && { ieee: ieeeOf(index) }) }),
      );
      await letIn(site, sensors);
      return new StickHome(site, stick, gateway, token, sensors);
    } catch (thrown) {
      await stick.close();
      await site.remove();
      throw thrown;
    }
  }

  nameOf(sensor: SimulatedDevice): string {
    return `wirelesssensor-${sensor.ieee.replaceAll(":", "")}`;
  }

  /** The event that a page has as the newest of this item; undefined while there is none. */
  async newest(name: string): Promise<number | undefined> {
    const page = `/items/wirelesssensors/${name}/events?limit=1`;
    const [event] = await this.gateway.records<{ event: number }[]>(page, this.token);
    return event?.event;
  }

  /** Has a sensor notify, and asks for its newest event until it is this one: milliseconds from the last byte on the line to the answer. */
  async untilServed(sensor: SimulatedDevice, status: number): Promise<number> {
    const name = this.nameOf(sensor);
    sensor.notify(status);
    await this.stick.drained();
    const written_ms = performance.now();
    for (;;) {
      const newest = await this.newest(name);
      const taken_ms = performance.now() - written_ms;
      if (newest === status) return taken_ms;
      if (taken_ms > lost_ms) throw new Error(`status ${status} of ${name} never came`);
      // Asked without a pause it would have 20,000 answers a second to make, which no client of a home asks for.
      await Bun.sleep(asking_ms);
    }
  }

  /** Starts the gateway again, after its process ended, and waits until it listens. */
  async again(): Promise<void> {
    this.gateway = await this.site.run();
    await this.site.listening("zigbee");
  }

  /** Stops the gateway, and answers its exit code; removes everything. */
  async close(): Promise<number> {
    try {
      return await this.gateway.stop();
    } finally {
      await this.stick.close();
      await this.site.remove();
    }
  }
}

/** Does something `count` times at an even rate. */
export async function evenly(per_s: number, count: number, once: (place: number) => void): Promise<void> {
  const began_ms = performance.now();
  for (let done = 0; done < count; ) {
    const due = Math.min(count, ((performance.now() - began_ms) / 1000) * per_s);
    for (; done < due; done += 1) once(done);
    await Bun.sleep(tick_ms);
  }
}

/** Lets the sensors in one after the other, while `lintel pair` runs. */
export async function letIn(site: Site, sensors: readonly SimulatedDevice[]): Promise<void> {
  const pair = site.spawn(["pair", "--seconds", String(pairing_s), "--json", "--data", site.data]);
  await stepOf(pair, "open");
  for (const sensor of sensors) {
    sensor.join();
    await stepOf(pair, "joined");
  }
  pair.kill("SIGINT");
  await pair.exited;
}

async function stepOf(pair: ReturnType<Site["spawn"]>, state: string): Promise<void> {
  const line = await pair.line();
  if (line === undefined) throw new Error(`lintel pair ended: ${await pair.said()}`);
  const step: { state: string } = JSON.parse(line);
  if (step.state !== state) throw new Error(`lintel pair: ${line} where ${state} was expected`);
}

const asking_ms = 1;
const tick_ms = 5;
/** An event that takes longer is lost. */
const lost_ms = 10_000;
/** The most that a coordinator keeps joining open for. */
const pairing_s = 254;
