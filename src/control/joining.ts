import type { JoinEvent } from "../../drivers/driver.ts";
import type { Clock } from "../clock.ts";
import { messageOf, OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { AttachedDriver } from "./attached-driver.ts";

/** A step of an open joining, as it is told to whoever opened it; `lintel pair --json` prints them. */
export type JoiningStep =
  | { readonly state: "open"; readonly seconds: number; readonly drivers: readonly string[] }
  | { readonly state: "started"; readonly address: string }
  | {
      readonly state: "joined";
      readonly address: string;
      readonly kind: string;
      readonly subtype?: string;
      readonly model?: string;
      readonly vendor?: string;
    }
  | { readonly state: "failed"; readonly address: string; readonly reason: string; readonly remedy: string }
  | { readonly state: "closed"; readonly joined: number; readonly failed: number };

export type JoiningChange = "opened" | "joined" | "closed";

/** What Zigbee's own timer holds. */
export const joining_seconds_max = 254;

/** What a button on the box opens. */
const button_seconds = 120;

/** Lets devices in, through every driver that can, one opening at a time. */
export class Joining {
  readonly #drivers: () => readonly AttachedDriver[];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #changed: (change: JoiningChange) => void;
  #opening: Opening | undefined;
  #stopping = false;

  constructor(options: {
    drivers: () => readonly AttachedDriver[];
    clock: Clock;
    log: Log;
    changed: (change: JoiningChange) => void;
  }) {
    this.#drivers = options.drivers;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#changed = options.changed;
  }

  get isOpen(): boolean {
    return this.#opening !== undefined;
  }

  /**
   * Opens joining for `seconds`; `report` gets every step, the last is `closed`. Throws an OperatorError when
   * it is open already or no driver can let devices in.
   */
  async open(seconds: number, report: (step: JoiningStep) => void): Promise<void> {
    if (this.#opening !== undefined) {
      throw new OperatorError(
        "joining is open already",
        "wait until it closes, or stop the other lintel pair",
      );
    }
    const able = this.#drivers().filter((driver) => driver.joins);
    if (able.length === 0) {
      throw new OperatorError(
        "no driver of this gateway lets devices join",
        "add a [zigbee] section to its configuration and restart it",
      );
    }
    const opening: Opening = { report, joined: 0, failed: 0, drivers: [], cancelTimer: () => {} };
    this.#opening = opening;
    const refusals: string[] = [];
    for (const driver of able) {
      try {
        await driver.openJoining(seconds);
        opening.drivers.push(driver);
        // Closed meanwhile, by a stop: what has just opened closes with it.
        if (this.#opening !== opening) await driver.closeJoining();
      } catch (error) {
        refusals.push(`${driver.name} ${messageOf(error)}`);
      }
    }
    if (this.#opening !== opening) {
      throw new OperatorError("joining was closed while it was being opened", "open it again");
    }
    if (opening.drivers.length === 0) {
      this.#opening = undefined;
      throw new OperatorError(
        `no driver could open joining (${refusals.join("; ")})`,
        "see lintel status, mend it and try again",
      );
    }
    opening.cancelTimer = this.#clock.after(seconds * 1000, () => void this.close());
    this.#changed("opened");
    this.#log.info(`joining is open for ${seconds} s`);
    report({ state: "open", seconds, drivers: opening.drivers.map((driver) => driver.name) });
  }

  /** Closes joining; nothing happens where it is not open. */
  async close(): Promise<void> {
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    opening.cancelTimer();
    await Promise.all(opening.drivers.map((driver) => driver.closeJoining()));
    this.#log.info(`joining is closed: ${opening.joined} joined, ${opening.failed} failed`);
    this.#changed("closed");
    opening.report({ state: "closed", joined: opening.joined, failed: opening.failed });
  }

  /** Closes joining for good; devices that do not get in because of that are worth no warning. */
  stop(): Promise<void> {
    this.#stopping = true;
    return this.close();
  }

  /** A button was pressed: opens joining, or closes it where it is open. */
  press(): void {
    const done = this.#opening === undefined ? this.open(button_seconds, () => {}) : this.close();
    done.catch((error) => this.#log.warn(messageOf(error)));
  }

  /** A driver tells of a device that is joining. */
  note(event: JoinEvent): void {
    const opening = this.#opening;
    if (event.state === "started") {
      this.#log.info(`${event.address} is joining`);
      opening?.report(event);
    } else if (event.state === "joined") {
      const { address, kind, subtype, model, vendor } = event.device;
      this.#log.info(`${address} joined${model === undefined ? "" : ` (${vendor ?? ""} ${model})`}`);
      if (opening !== undefined) opening.joined++;
      this.#changed("joined");
      opening?.report({
        state: "joined",
        address,
        kind,
        ...(subtype === undefined ? {} : { subtype }),
        ...(model === undefined ? {} : { model }),
        ...(vendor === undefined ? {} : { vendor }),
      });
    } else {
      const level = this.#stopping ? "info" : "warn";
      this.#log[level](`${event.address} could not join (${event.reason}): ${event.remedy}`);
      if (opening !== undefined) opening.failed++;
      opening?.report(event);
    }
  }
}

interface Opening {
  readonly report: (step: JoiningStep) => void;
  readonly drivers: AttachedDriver[];
  joined: number;
  failed: number;
  cancelTimer: () => void;
}
