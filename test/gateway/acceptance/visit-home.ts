import { SystemClock } from "../../../src/base/clock.ts";
import { OperatorError } from "../../../src/base/errors.ts";
import { type AcceptanceFault, walkAsk } from "../../../src/domain/acceptance.ts";
import type { Device, DeviceState } from "../../../src/domain/reading.ts";
import { type AcceptanceParts, Acceptances } from "../../../src/gateway/acceptance/acceptances.ts";
import type { GatewayStore } from "../../../src/store/gateway/gateway-store.ts";
import { acceptancePost, takeLock } from "../../../src/store/sqlite/data-directory.ts";
import { openGatewayStore } from "../../../src/store/sqlite/open-store.ts";
import { keptLog, reading, sensor, sensorEvent, temporaryDirectory } from "../../../testbed/sample.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";
import { writerOfTests } from "../../../testbed/sqlite/writer-here.ts";

export const begun_ms = Date.UTC(2026, 10, 20, 14);
const minute_ms = 60_000;

/** A device of the home, and what it tells when the technician does what is asked. */
interface HomeDevice {
  readonly name: string;
  readonly room: string;
  readonly device: Device;
  readonly metres?: number;
}

const wireless = (number: number, subtype: string) =>
  sensor(number, { subtype, vendor: "NYCE", model: "30xx" });
const curtain = (number: number): HomeDevice => ({
  ...{ name: `Hall ${number}`, room: "Hall", device: wireless(10 + number, "curtain") },
  metres: (number - 1) * 0.75,
});

export const home: Readonly<Record<string, HomeDevice>> = {
  kitchen: { name: "Kitchen motion", room: "Kitchen", device: wireless(1, "wall") },
  bathroom: { name: "Bathroom motion", room: "Bathroom", device: wireless(2, "wall") },
  door: { name: "Front door", room: "Entrance", device: wireless(3, "door") },
  scale: { name: "Scale", room: "Bathroom", device: { kind: "scales", address: "a4:c1:38:00:00:05" } },
  box: {
    name: "Pill box",
    room: "Kitchen",
    device: { kind: "pillboxes", address: "a4:c1:38:00:00:06", subtype: "broadcasting" },
  },
  hall1: curtain(1),
  hall2: curtain(2),
  hall3: curtain(3),
};
export type HomeName = "kitchen" | "bathroom" | "door" | "scale" | "box" | "hall1" | "hall2" | "hall3";
export const singly = ["kitchen", "bathroom", "door", "scale", "box"] as const;
export const halls = ["hall1", "hall2", "hall3"] as const;

/** A home with a gateway's real store, and a technician in it. */
export class VisitedHome implements AsyncDisposable {
  readonly clock = new SettableClock(begun_ms);
  readonly #directory: ReturnType<typeof temporaryDirectory>;
  readonly acceptances: Acceptances;
  /** Devices whose sensors answer for others: `kitchen` in the place of `bathroom`. */
  answers: Partial<Record<HomeName, HomeName>> = {};
  /** Devices of which nothing comes, and those that only show that they live. */
  asleep: readonly HomeName[] = [];
  heartbeat: readonly HomeName[] = [];
  state: Partial<DeviceState> = { battery_percent: 90, linkquality: 180 };
  /** States of devices that the box has heard, and not brought to disk. */
  readonly held: DeviceState[] = [];
  troubles: AcceptanceFault[] = [];
  isCentralAway = false;

  private constructor(
    readonly store: GatewayStore,
    directory: ReturnType<typeof temporaryDirectory>,
    parts: Partial<AcceptanceParts>,
  ) {
    this.#directory = directory;
    this.acceptances = new Acceptances({
      hold: this.hold,
      ...{ directory: directory.path, store, clock: this.clock, version: "1.2.3", home: 12 },
      flush: async () => {
        await this.store.append([], { states: this.held.splice(0) });
      },
      ...{ timezone: "Europe/Berlin", walking: [], troubles: async () => this.troubles },
      central: {
        url: "https://central.example",
        verify: async () => {
          if (this.isCentralAway) throw new OperatorError("central is away", "wait");
          return { sent: 3, differing_days: 0 };
        },
      },
      ...parts,
    });
  }

  readonly hold = () => takeLock(this.directory, acceptancePost);

  get directory(): string {
    return this.#directory.path;
  }

  static async make(parts: Partial<AcceptanceParts> = {}): Promise<VisitedHome> {
    const directory = temporaryDirectory();
    const { log } = keptLog();
    const store = await openGatewayStore({
      directory: directory.path,
      clock: new SystemClock(),
      log,
      home: 12,
      ...writerOfTests(),
    });
    const made = new VisitedHome(store, directory, parts);
    // Each spoke when it joined, an hour before the visit.
    for (const { device, name, room, metres } of Object.values(home)) {
      await store.append([], {
        states: [{ device, heard_ms: begun_ms - 60 * minute_ms, ...listener, ...made.state }],
      });
      await store.nameItem({ address: device.address, name, room, metres, given_ms: begun_ms });
    }
    return made;
  }

  /** Something happens at a device, one second later than what happened before. */
  async happens(name: HomeName, ...values: readonly number[]): Promise<void> {
    const by = this.answers[name] ?? name;
    const { device } = home[by] as HomeDevice;
    for (const value of values) {
      this.clock.advance(1_000);
      const at_ms = this.clock.now().unix_ms;
      const readings = {
        wirelesssensors: sensorEvent(device, at_ms, value),
        pillboxes: reading(device, "pillbox_events", at_ms, { event: value }),
        scales: reading(device, "scale_weights", at_ms, { weight: value, ...noMasses }),
      };
      if (this.asleep.includes(by)) continue;
      const told = this.heartbeat.includes(by) ? [] : [readings[device.kind as keyof typeof readings]];
      await this.store.append(told, { states: [{ device, heard_ms: at_ms, ...listener, ...this.state }] });
    }
  }

  /** Time passes until then: drivers listen, and each device but those asleep shows every hour that it lives. */
  async passes(until_ms: number): Promise<void> {
    const from_ms = this.clock.now().unix_ms;
    const awake = Object.entries(home).filter(([name]) => !this.asleep.includes(name as HomeName));
    const states = [];
    for (let at_ms = from_ms; at_ms < until_ms; at_ms += 60 * minute_ms)
      states.push(...awake.map(([, { device }]) => ({ device, heard_ms: at_ms, ...listener })));
    const listening = [{ listener: "zigbee", from_ms: begun_ms - 60 * minute_ms, to_ms: until_ms }];
    await this.store.append([], { states, listening });
    this.clock.advance(until_ms - from_ms);
  }

  /** The technician taps, and does what is asked, within some seconds. */
  async try(name: HomeName): Promise<void> {
    this.acceptances.ask(home[name]?.device.address ?? "");
    await this.happens(name, ...deeds[name]);
    this.clock.advance(minute_ms);
  }

  async walk(direction: "order" | "there" | "back", path: readonly HomeName[]): Promise<void> {
    this.acceptances.ask(walkAsk("Hall", direction));
    for (const name of path) await this.happens(name, 0b10);
    this.clock.advance(minute_ms);
  }

  /** Tries every device, and walks there and back, but for what is left out. */
  async tryAll(but: readonly HomeName[] = []): Promise<void> {
    for (const name of singly) if (!but.includes(name)) await this.try(name);
    await this.walk("there", halls);
    await this.walk("back", halls.toReversed());
  }

  /** Finishes, and answers the faults that the record has. */
  async faults(): Promise<string[]> {
    const { signed } = await this.acceptances.complete("Ann");
    return signed.faults.map(({ what }) => what);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.acceptances.stop();
    await this.store.close();
    this.#directory[Symbol.dispose]();
  }
}

const deeds: Readonly<Record<HomeName, readonly number[]>> = {
  ...{ kitchen: [0b10], bathroom: [0b10], door: [0b1, 0], scale: [68_400], box: [0b100, 0] },
  ...{ hall1: [0b10], hall2: [0b10], hall3: [0b10] },
};
const listener = { listener: "zigbee" };
const noMasses = { fatMass: null, waterMass: null, boneMass: null, muscleMass: null, batteryLevel: null };
