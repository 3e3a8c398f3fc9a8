import type { Controller, Models } from "zigbee-herdsman";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import { conflictRemedy } from "../../src/domain/reading.ts";
import type { Host } from "../driver.ts";
import { patience } from "./clusters.ts";
import type { HerdsmanLog } from "./herdsman-log.ts";
import { addressOf, modelOf, type Sensors } from "./sensors.ts";
import { zoneEndpoint, zoneTypeOf } from "./zone-status.ts";

/** A coordinator lets in for at most this long at a time (Mgmt_Permit_Joining_req: one byte, 255 excluded). */
const permit_max_s = 254;
/** A longer window is renewed this much before it would close. */
const renew_early_s = 14;

/** The part of an interview that failed, by the text of its error; the last row takes the rest. */
const steps: readonly { says: RegExp; reason: string; remedy: string }[] = [
  {
    says: /speaks under its address/,
    reason: "another device speaks under its address",
    remedy: "take the battery out of the other one, and join it again",
  },
  {
    says: /node descriptor/i,
    reason: "it did not say what kind of device it is (node descriptor)",
    remedy:
      "bring it within a few metres of the gateway, keep it awake by pressing its button, and join it again",
  },
  {
    says: /active endpoints/i,
    reason: "it did not list its parts (active endpoints)",
    remedy: "keep it awake by pressing its button every few seconds while it joins, and join it again",
  },
  {
    says: /enroll|enrol|ssIasZone/i,
    reason: "it did not accept this gateway as its alarm centre (IAS enrolment)",
    remedy: "reset it to its factory state, so that it forgets its former gateway, and join it again",
  },
  {
    says: /(?:)/,
    reason: "it did not describe its parts (simple descriptor)",
    remedy: "keep it awake by pressing its button every few seconds while it joins, and join it again",
  },
];

const outcomes = {
  left: {
    reason: "it left the network while it was joining",
    remedy: "reset it to its factory state, move it closer and join it again; a weak battery does this too",
  },
  closed: {
    reason: "joining was closed while it was still telling what it is",
    remedy: "it may finish by itself; if it does not, open joining again for longer and wake it",
  },
  cut: {
    reason: "the adapter went away while it was joining",
    remedy: "open joining again once the adapter is back, and wake it",
  },
} as const;

/** Interviews of a device under whose address another one speaks meanwhile. */
const interviews_max = 3;

/**
 * Interviews the device that has joined at a network address. If another one has the same IEEE address and speaks meanwhile, zigbee-herdsman
 * goes on with that one, and would have its answers as those of the new one.
 */
async function interviewAt(device: Models.Device, networkAddress: number): Promise<void> {
  for (let tries = 0; tries < interviews_max; tries += 1) {
    device.networkAddress = networkAddress;
    await device.interview(true);
    if (device.networkAddress === networkAddress) return;
  }
  throw new Error("another device speaks under its address");
}

/** Lets devices in, and tells the host of each step that they take. */
export class Joining {
  readonly #host: Host;
  readonly #sensors: Sensors;
  readonly #herdsmanLog: HerdsmanLog;
  readonly #changed: () => void;
  /** IEEE addresses of the devices that are being interviewed. */
  readonly #progress = new Set<string>();
  #controller: Controller | undefined;
  /** When the window closes, monotonic milliseconds; undefined while it is closed. */
  #until_ms: number | undefined;
  #cancel = () => {};

  constructor(options: { host: Host; sensors: Sensors; herdsmanLog: HerdsmanLog; changed: () => void }) {
    this.#host = options.host;
    this.#sensors = options.sensors;
    this.#herdsmanLog = options.herdsmanLog;
    this.#changed = options.changed;
  }

  /** Listens to a controller, from before it starts. */
  follow(controller: Controller): void {
    controller.on("deviceInterview", ({ status, device }) => {
      if (status === "started") this.#started(device.ieeeAddr);
      else if (status === "successful") void this.#interviewed(device);
      else this.#failed(device.ieeeAddr, stepOf(this.#herdsmanLog.interviewFailure));
    });
    controller.on("deviceLeave", ({ ieeeAddr }) => {
      this.#failed(ieeeAddr, outcomes.left);
      this.#sensors.forget(ieeeAddr);
      this.#changed();
    });
    controller.on("lastSeenChanged", ({ device, reason }) => {
      if (reason === "deviceJoined") this.#rejoined(device);
    });
  }

  /** The controller has started; a window that is still open is opened there too. */
  resume(controller: Controller): void {
    this.#controller = controller;
    if (this.#until_ms !== undefined) {
      this.#permit().catch((thrown: unknown) => this.#host.log.warn(`joining: ${messageOf(thrown)}`));
    }
  }

  /** The controller ends. A window stays open for its successor. */
  pause(): void {
    this.#controller = undefined;
    for (const ieee of [...this.#progress]) this.#failed(ieee, outcomes.cut);
  }

  /** Opens joining for so many seconds from now. Throws an OperatorError when the adapter isn't there. */
  async open(seconds: number): Promise<void> {
    this.#until_ms = this.#host.clock.now().monotonic_ms + seconds * 1000;
    try {
      await this.#permit();
    } catch (thrown) {
      this.#until_ms = undefined;
      throw thrown;
    }
  }

  async close(): Promise<void> {
    this.#cancel();
    if (this.#until_ms === undefined) return;
    this.#until_ms = undefined;
    for (const ieee of this.#progress) this.#report(ieee, outcomes.closed);
    await this.#controller?.permitJoin(0);
  }

  async #permit(): Promise<void> {
    const { clock } = this.#host;
    if (this.#controller === undefined || this.#until_ms === undefined) {
      throw new OperatorError(
        "joining cannot be opened, the Zigbee adapter is not ready",
        "see `lintel status`",
      );
    }
    const left_s = Math.ceil((this.#until_ms - clock.now().monotonic_ms) / 1000);
    if (left_s <= 0) return this.close();
    const permitted_s = Math.min(left_s, permit_max_s);
    await this.#controller.permitJoin(permitted_s);
    const next_s = left_s > permit_max_s ? permit_max_s - renew_early_s : left_s;
    this.#cancel();
    this.#cancel = clock.after(next_s * 1000, () => {
      const step = left_s > permit_max_s ? this.#permit() : this.close();
      step.catch((thrown: unknown) => this.#host.log.warn(`joining: ${messageOf(thrown)}`));
    });
  }

  #started(ieee: string): void {
    this.#progress.add(ieee);
    this.#host.joining({ state: "started", address: addressOf(ieee) });
  }

  /**
   * A device that is known and asks to join while joining is open has been reset by hand: it has forgotten
   * whom to notify, and zigbee-herdsman would not ask it again.
   */
  #rejoined(device: Models.Device): void {
    if (this.#until_ms === undefined || String(device.interviewState) !== "SUCCESSFUL") return;
    this.#started(device.ieeeAddr);
    interviewAt(device, device.networkAddress).then(
      () => this.#interviewed(device),
      (thrown: unknown) => this.#failed(device.ieeeAddr, stepOf(messageOf(thrown))),
    );
  }

  async #interviewed(device: Models.Device): Promise<void> {
    const ieee = device.ieeeAddr;
    const before = { sensor: this.#sensors.known(ieee) };
    this.#sensors.refresh(ieee);
    let sensor = await this.#sensors.identify(device);
    if (sensor === undefined) {
      this.#changed();
      return this.#failed(ieee, unsupported(device));
    }
    // A listed model needs no zone type; reading it may take seconds when the sensor sleeps.
    if (sensor.device.subtype === undefined && (await this.#readZoneType(device))) {
      this.#sensors.refresh(ieee);
      sensor = await this.#sensors.identify(device);
    }
    // It may have left meanwhile.
    if (!this.#progress.delete(ieee) || sensor === undefined) return;
    this.#changed();
    if (!this.#sensors.isItself(device, before)) {
      const remedy = conflictRemedy(addressOf(ieee));
      return this.#report(ieee, { reason: "another sensor is known under its address", remedy });
    }
    this.#host.joining({ state: "joined", device: sensor.device });
    await this.#sensors.configure(device);
  }

  /** Whether a zone told what type it is. */
  async #readZoneType(device: Models.Device): Promise<boolean> {
    try {
      await zoneEndpoint(device)?.read("ssIasZone", ["zoneType"], { sendPolicy: "immediate", ...patience });
    } catch (thrown) {
      this.#host.log.debug(`${device.ieeeAddr} does not tell its zone type: ${messageOf(thrown)}`);
    }
    return zoneTypeOf(device) !== undefined;
  }

  #failed(ieee: string, outcome: { reason: string; remedy: string }): void {
    if (this.#progress.delete(ieee)) this.#report(ieee, outcome);
  }

  #report(ieee: string, { reason, remedy }: { reason: string; remedy: string }): void {
    this.#host.joining({ state: "failed", address: addressOf(ieee), reason, remedy });
  }
}

function stepOf(said: string): { reason: string; remedy: string } {
  const step = steps.find(({ says }) => says.test(said));
  return step ?? { reason: said, remedy: "join it again" };
}

function unsupported(device: Models.Device): { reason: string; remedy: string } {
  const name = [device.manufacturerName, modelOf(device)].filter((part) => part).join(" ");
  return {
    reason: `it joined, but is not a sensor${name === "" ? "" : ` (${name})`}: nothing that it tells is a reading`,
    remedy: "leave it as it is if it is a repeater; otherwise reset it, so that it leaves the network",
  };
}
