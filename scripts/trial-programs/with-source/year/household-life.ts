import { clockQuality } from "../../../../src/base/clock.ts";
import { day_ms, hour_ms } from "../../../../src/base/time.ts";
import type { BufferCursor, Device, Reading } from "../../../../src/domain/reading.ts";
import { below, seeded, sensor } from "../../../../testbed/sample.ts";
import { SimulatedMachine } from "../../../../testbed/simulated-machine.ts";
import { boundsOf, rowsOf, waitingIn } from "../../../../testbed/sqlite/database-rows.ts";
import { GatewayProcess } from "./gateway-process.ts";

/**
 * Some time in a home: sensors that speak when they see something, a polled pill box that keeps its events, and a
 * gateway without a clock chip whose power, network, clock and dongle fail. Everything follows from the seed. What the
 * gateway makes of it is judged against what really happened: see `judge`.
 */
export async function live(options: { seed: number; days: number; directory: string }): Promise<Life> {
  const life = new HouseholdLife(options);
  await life.run();
  return life.judge();
}

/** The result. `faults` is empty where all is as it must be. */
export interface Life {
  readonly faults: readonly string[];
  /** Counts of the readings taken in, and of faults injected. */
  readonly counts: Readonly<Record<string, number>>;
  /** Readings on disk by clock quality, and the worst error of their stamps in milliseconds. */
  readonly qualities: Readonly<Record<string, { readonly count: number; readonly worst_ms: number }>>;
}

class HouseholdLife {
  readonly #random: () => number;
  readonly #seed: number;
  readonly #end_ms: number;
  readonly #directory: string;
  readonly #machine: SimulatedMachine;
  readonly #happened: Happening[] = [];
  readonly #counts: Record<string, number> = {};
  readonly #boots: { from_ms: number; to_ms: number; fast_ppm: number; name: string }[] = [];
  readonly #box = { events: [] as { true_ms: number; serial: number }[], read: 0, ahead_ms: 3_600_000 };
  #gateway: GatewayProcess | undefined;
  #network = true;
  /** When the system clock was last right, and the longest in the last hour that it was not while said to be. */
  #right_ms = 0;
  #longest_ms = 0;
  #longestUntil_ms = 0;
  #dongle = true;
  readonly #due: { at_ms: number; what: () => Promise<void> | void }[] = [];

  constructor({ seed, days, directory }: { seed: number; days: number; directory: string }) {
    this.#seed = seed;
    this.#random = seeded(seed);
    this.#directory = directory;
    const start_ms = Date.UTC(2026, 9, 1);
    this.#end_ms = start_ms + days * day_ms;
    this.#machine = new SimulatedMachine({ now_ms: start_ms });
  }

  async run(): Promise<void> {
    const timezone = process.env["TZ"];
    try {
      await this.#powerOn();
      for (const [every_ms, what] of this.#troubles()) this.#again(every_ms, what);
      this.#again(hour_ms, () => this.#pollBox(), 1);
      this.#again(6 * hour_ms, () => this.#lookAtBox(), 1);
      this.#again(12 * 60_000, () => this.#visit());
      this.#again(2 * hour_ms, () => this.#heartbeats(), 1);
      for (let step = 0; step < steps_max && this.#machine.now_ms < this.#end_ms; step += 1)
        await this.#step();
      // The last boot learns the time, so that everything gets its number.
      this.#network = true;
      if (this.#gateway === undefined) await this.#powerOn();
      this.#timeService();
      for (let minute = 0; minute < 120; minute += 1) await this.#pass(60_000);
      await this.#end();
    } finally {
      if (timezone === undefined) delete process.env["TZ"];
      else process.env["TZ"] = timezone;
    }
  }

  /** Mean time between troubles, and what they are. */
  #troubles(): [number, () => Promise<void> | void][] {
    return [
      [5 * day_ms, () => this.#powerCut()],
      [4 * day_ms, () => this.#restart()],
      [6 * day_ms, () => this.#networkFails()],
      [5 * day_ms, () => this.#dongleFails()],
      [3 * day_ms, () => this.#leap()],
      [8 * day_ms, () => this.#changeZone()],
      [17 * 60_000, () => this.#timeService()],
    ];
  }

  async #step(): Promise<void> {
    this.#due.sort((one, other) => one.at_ms - other.at_ms);
    const next = this.#due.shift();
    if (next === undefined) return;
    await this.#pass(Math.max(0, next.at_ms - this.#machine.now_ms));
    await next.what();
  }

  /** Has something happen again and again; with a `spread` of 1 at even intervals, else at random ones. */
  #again(every_ms: number, what: () => Promise<void> | void, spread = 0): void {
    const wait_ms = spread === 1 ? every_ms : -Math.log(1 - this.#random()) * every_ms;
    this.#in(wait_ms, async () => {
      await what();
      this.#again(every_ms, what, spread);
    });
  }

  #in(wait_ms: number, what: () => Promise<void> | void): void {
    this.#due.push({ at_ms: this.#machine.now_ms + Math.round(wait_ms), what });
  }

  async #pass(ms: number): Promise<void> {
    this.#machine.advance(ms);
    await this.#gateway?.settle();
  }

  #count(what: string): void {
    this.#counts[what] = (this.#counts[what] ?? 0) + 1;
  }

  // The household's doings.

  /** Somebody passes some sensors: a few readings within seconds, some of which come with a delay. */
  async #visit(): Promise<void> {
    const readings = 1 + below(this.#random, 6);
    for (let each = 0; each < readings; each += 1) {
      const delay_ms = this.#random() < 0.03 ? 250 * below(this.#random, 40) : 0;
      const passed = this.#random() < 0.5 ? 0 : below(this.#random, sensors);
      this.#sense(sensor(passed), delay_ms);
      await this.#pass(40 + below(this.#random, 2_000));
      if (this.#random() < 0.01) this.#timeService();
    }
    if (this.#random() < 0.5) this.#boxEvent();
    await this.#pass(150);
  }

  #sense(device: Device, delay_ms: number): void {
    const serial = this.#happened.length;
    const happening: Happening = {
      true_ms: this.#machine.now_ms - delay_ms,
      device: device.address,
      unsure_ms: 0,
      acknowledged: false,
    };
    this.#happened.push(happening);
    const gateway = this.#gateway;
    if (gateway === undefined || !this.#dongle) return;
    const { unix_ms, monotonic_ms, quality } = this.#machine.moment();
    const reading: Reading = {
      device,
      series: "wirelesssensor_events",
      stamp_ms: unix_ms - delay_ms,
      clock: quality,
      monotonic_ms: monotonic_ms - delay_ms,
      values: { event: serial },
    };
    this.#acknowledge(gateway, reading, [serial]);
  }

  #acknowledge(
    gateway: GatewayProcess,
    reading: Reading,
    serials: readonly number[],
    cursor?: BufferCursor,
  ): void {
    const unsure_ms = this.#unsure_ms();
    for (const serial of serials) (this.#happened[serial] as Happening).unsure_ms = unsure_ms;
    gateway.ingest.accept(reading, cursor, "zigbee").then(
      () => {
        if (!gateway.killed)
          for (const serial of serials) (this.#happened[serial] as Happening).acknowledged = true;
      },
      (thrown: unknown) => {
        if (!gateway.killed) this.#counts[`refused: ${thrown}`] = 1;
      },
    );
  }

  #boxEvent(): void {
    const serial = this.#happened.length;
    const true_ms = this.#machine.now_ms;
    this.#happened.push({ true_ms, device: box.address, unsure_ms: 0, acknowledged: false });
    this.#box.events.push({ true_ms, serial });
  }

  #lookAtBox(): void {
    this.#box.ahead_ms += below(this.#random, 400) - 200;
  }

  /** Reads the box's buffer from where the last commit left off. */
  async #pollBox(): Promise<void> {
    const gateway = this.#gateway;
    if (gateway === undefined) return;
    const { unix_ms, monotonic_ms, quality } = this.#machine.moment();
    const now_ms = this.#machine.now_ms;
    const read = Number((await gateway.store.cursor("box")) ?? 0);
    for (const [index, { true_ms, serial }] of this.#box.events.slice(read).entries()) {
      const age_ms = now_ms - true_ms;
      const stamp_ms = unix_ms - age_ms;
      const device_ms = true_ms + this.#box.ahead_ms;
      const reading: Reading = {
        device: box,
        series: "pillbox_events",
        stamp_ms,
        clock: quality === clockQuality.synchronised ? clockQuality.device : quality,
        monotonic_ms: monotonic_ms - age_ms,
        deviceClock: { stamp_ms: device_ms, offset_ms: stamp_ms - device_ms },
        values: { event: serial },
      };
      this.#acknowledge(gateway, reading, [serial], { name: "box", value: String(read + index + 1) });
    }
    await this.#pass(150);
  }

  #heartbeats(): void {
    if (!this.#dongle) return;
    const heard_ms = this.#machine.moment().unix_ms;
    for (let each = 0; each < sensors; each += 1) {
      this.#gateway?.ingest.heard({ device: sensor(each), heard_ms, battery_percent: 90 }, "zigbee");
    }
  }

  // The failures.

  async #powerOn(): Promise<void> {
    const fast_ppm = 80 * (this.#random() - 0.5);
    const shows = this.#random();
    const shown_ms =
      shows < 0.3
        ? below(this.#random, day_ms)
        : shows < 0.7
          ? this.#machine.now_ms - below(this.#random, 90 * day_ms)
          : this.#machine.now_ms + (this.#random() - 0.5) * 8 * 365 * day_ms;
    this.#machine.start(Math.round(shown_ms), fast_ppm);
    const from_ms = this.#machine.now_ms;
    this.#boots.push({ from_ms, to_ms: from_ms, fast_ppm, name: this.#machine.startProcess().boot });
    await this.#startProcess();
    if (this.#random() < 0.6) this.#in(20_000, () => this.#timeService());
  }

  async #startProcess(): Promise<void> {
    this.#gateway = await GatewayProcess.start(
      this.#directory,
      this.#machine.startProcess(),
      () => this.#dongle,
    );
    await this.#gateway.settle();
  }

  /** The gateway is killed: what was not yet acknowledged may be there or not. */
  async #kill(): Promise<void> {
    const gateway = this.#gateway;
    this.#gateway = undefined;
    if (gateway === undefined) return;
    if (this.#random() < 0.7) this.#sense(sensor(0), 0);
    if (this.#random() < 0.5) this.#machine.advance(120);
    this.#machine.killProcess();
    await gateway.kill();
  }

  async #powerCut(): Promise<void> {
    if (this.#gateway === undefined) return;
    this.#count("power cuts");
    await this.#kill();
    (this.#boots.at(-1) as { to_ms: number }).to_ms = this.#machine.now_ms;
    this.#network = this.#random() < 0.5;
    if (!this.#network) this.#in(3 * day_ms * this.#random(), () => this.#networkReturns());
    const off_ms = this.#random() < 0.2 ? 5 * day_ms * this.#random() : 60_000 * 30 * this.#random();
    this.#in(off_ms, () => this.#powerOn());
    // Often it goes again before it has learned the time.
    if (this.#random() < 0.4) this.#in(off_ms + 12 * hour_ms * this.#random(), () => this.#powerCut());
  }

  async #restart(): Promise<void> {
    if (this.#gateway === undefined) return;
    this.#count("restarts of the process");
    if (this.#random() < 0.3) {
      const gateway = this.#gateway;
      this.#gateway = undefined;
      await gateway.stop();
      this.#machine.killProcess();
    } else await this.#kill();
    await this.#pass(below(this.#random, 10_000));
    await this.#startProcess();
  }

  #networkFails(): void {
    this.#count("network failures");
    this.#network = false;
    this.#in(6 * day_ms * this.#random(), () => this.#networkReturns());
  }

  #networkReturns(): void {
    this.#network = true;
    this.#timeService();
  }

  /** Acts as a time service does every quarter of an hour or so, where there is a network. */
  #timeService(): void {
    if (!this.#network || this.#gateway === undefined) return;
    if (!this.#machine.synchronised) this.#count("times learned");
    const wrong_ms = this.#unright_ms();
    if (wrong_ms >= this.#longest_ms || this.#machine.now_ms > this.#longestUntil_ms) {
      this.#longest_ms = wrong_ms;
      this.#longestUntil_ms = this.#machine.now_ms + hour_ms;
    }
    this.#machine.synchronise(this.#random() * 400 - 200);
    this.#right_ms = this.#machine.now_ms;
  }

  #dongleFails(): void {
    this.#count("dongle failures");
    this.#dongle = false;
    this.#in(hour_ms * 8 * this.#random(), () => {
      this.#dongle = true;
    });
  }

  /** Somebody sets the clock, by seconds or by years; a time service finds it within half an hour. */
  #leap(): void {
    if (!this.#network || !this.#machine.synchronised || this.#gateway === undefined) return;
    this.#count("leaps of the clock");
    const most_ms = [4_000, hour_ms, 40 * day_ms, 30 * 365 * day_ms][below(this.#random, 4)] as number;
    this.#machine.leap(Math.round((this.#random() - 0.5) * 2 * most_ms));
    this.#in(below(this.#random, 30 * 60_000), () => {
      this.#network = true;
      this.#timeService();
    });
  }

  #changeZone(): void {
    this.#count("changes of the time zone");
    process.env["TZ"] = zones[below(this.#random, zones.length)] ?? "UTC";
  }

  // The verdict: how far clocks may be off, and whether each reading is there, in order and dated well.

  /** How far the clock of this boot may be off by the drift of its crystal. */
  #unsure_ms(): number {
    const boot = this.#boots.at(-1);
    return this.#machine.synchronised
      ? drift * Math.max(this.#unright_ms(), this.#longest_ms)
      : drift * (this.#machine.now_ms - (boot?.from_ms ?? 0));
  }

  #unright_ms(): number {
    return this.#machine.synchronised ? this.#machine.now_ms - this.#right_ms : 0;
  }

  async #end(): Promise<void> {
    await this.#gateway?.stop();
    (this.#boots.at(-1) as { to_ms: number }).to_ms = this.#machine.now_ms;
  }

  judge(): Life {
    const rows = rowsOf(this.#directory);
    const bounds = boundsOf(this.#directory);
    const faults: string[] = [];
    const fault = (text: string) => faults.length < faults_max && faults.push(`seed ${this.#seed}: ${text}`);
    const qualities: Record<string, { count: number; worst_ms: number }> = {};
    const seen = new Set<number>();
    const names = Object.entries(clockQuality);
    const waited_ms = drift * Math.max(...this.#boots.map(({ from_ms, to_ms }) => to_ms - from_ms));
    let last: { item: number; happened: Happening; stamp: number } | undefined;
    for (const { item, stamp, seq, event, clock } of rows) {
      const happened = this.#happened[event];
      if (happened === undefined) continue;
      if (seen.has(event)) fault(`reading ${event} is there twice`);
      seen.add(event);
      const error_ms = Math.abs(stamp - happened.true_ms);
      const name = names.find(([, number]) => number === clock)?.[0] ?? String(clock);
      const { count = 0, worst_ms = 0 } = qualities[name] ?? {};
      qualities[name] = { count: count + 1, worst_ms: Math.max(worst_ms, error_ms) };
      const bound_ms =
        slack_ms +
        (clock === clockQuality.bounded
          ? waited_ms + this.#boundAt(happened.true_ms, bounds)
          : clock === clockQuality.deviceUnmeasured
            ? waited_ms + happened.unsure_ms + box_drift_ms
            : happened.unsure_ms + (clock === clockQuality.synchronised ? 0 : waited_ms));
      if (error_ms > bound_ms)
        fault(`reading ${event}, ${name}, is off by ${error_ms} ms, bound ${Math.round(bound_ms)} ms`);
      if (
        last?.item === item &&
        happened.true_ms < last.happened.true_ms - order_slack_ms &&
        stamp > last.stamp
      )
        fault(
          `reading ${event} (${seq}) stands after one that came ${last.happened.true_ms - happened.true_ms} ms later`,
        );
      last = { item, happened, stamp };
    }
    for (const [serial, { acknowledged }] of this.#happened.entries())
      if (acknowledged && !seen.has(serial)) fault(`reading ${serial} was acknowledged and is lost`);
    for (const what of Object.keys(this.#counts)) if (what.startsWith("refused")) fault(what);
    const waiting = waitingIn(this.#directory);
    if (waiting > 0) fault(`${waiting} facts still wait for the time`);
    return {
      faults,
      qualities,
      counts: { readings: rows.length, boots: this.#boots.length, ...this.#counts },
    };
  }

  /** The bound that the store states for the boot in which something was taken in. */
  #boundAt(true_ms: number, bounds: ReadonlyMap<string, number>): number {
    // A box's event is taken in by the first boot that reads it.
    const later = this.#boots.filter(({ to_ms }) => to_ms >= true_ms);
    const known = later.map(({ name }) => bounds.get(name)).find((bound) => bound !== undefined && bound > 0);
    return known ?? 0;
  }
}

interface Happening {
  readonly true_ms: number;
  readonly device: string;
  /** By how much the clock may have drifted when it was taken in. */
  unsure_ms: number;
  acknowledged: boolean;
}
const sensors = 8;
const steps_max = 10_000_000;
const faults_max = 20;
/** Of the crystals above, with a little to spare. */
const drift = 100 / 1e6;
/** Error of a time service, and the largest step that a clock follows at once. */
const slack_ms = 2_500;
/** Drift of the box's clock since it was last compared, at most. */
const box_drift_ms = 2_000;
const order_slack_ms = 10;
const box: Device = { kind: "pillboxes", address: "00:0d:6f:00:07:00", subtype: "polled" };
const zones = ["America/Los_Angeles", "Europe/Berlin", "Australia/Lord_Howe", "Asia/Kathmandu", "UTC"];
