import { type JoinEvent, type PairingPerson, question_max_ms } from "../../../drivers/driver.ts";
import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { OpenJoining } from "../../domain/joining-state.ts";
import type { AttachedDriver } from "../attached-drivers.ts";

/** A step of a joining, as its caller gets it; `lintel pair --json` prints them from `open` on. */
export type JoiningStep =
  /** These drivers are starting; joining opens as soon as they are ready. */
  | { readonly state: "waiting"; readonly drivers: readonly string[] }
  | {
      readonly state: "open";
      readonly seconds: number;
      readonly drivers: readonly string[];
      /** Drivers that could not open, each with the reason. */
      readonly problems?: readonly string[];
    }
  | { readonly state: "started"; readonly address: string }
  /** Six digits that the person is to type at the device. */
  | { readonly state: "reads"; readonly address: string; readonly digits: string }
  /** Asks the person for the six digits that the device shows. The answer is these digits. */
  | { readonly state: "types"; readonly address: string }
  /** Asks the person whether the device shows these six digits. The answer is `yes`, or anything else for no. */
  | { readonly state: "compares"; readonly address: string; readonly digits: string }
  | {
      readonly state: "joined";
      readonly address: string;
      readonly kind: string;
      readonly subtype?: string;
      readonly model?: string;
      readonly vendor?: string;
    }
  | { readonly state: "bonded"; readonly address: string }
  | { readonly state: "failed"; readonly address: string; readonly reason: string; readonly remedy: string }
  | { readonly state: "closed"; readonly joined: number; readonly failed: number };

/** Abilities of the person who opened joining: to read digits, and perhaps to type them. */
export type PairingAbility = "reads" | "types";

type JoiningChange = "opened" | "joined" | "closed";

/** Thrown to a caller that opens joining while another caller has opened it. */
export const openAlready = "joining is open already";

/** The longest time that Zigbee's own timer can hold. */
export const joining_seconds_max = 254;

/** The time for which a button on the box opens the network. */
export const button_seconds = 120;

/** A driver that starts is waited for this long, and looked at this often. */
const start_wait_max_ms = 60_000;
const look_interval_ms = 100;

/** Lets devices in, through every driver that can, one opening at a time. */
export class Joining {
  readonly #drivers: () => readonly AttachedDriver[];
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #changed: (change: JoiningChange) => void;
  #opening: JoiningUnderWay | undefined;
  /** The end of the last closing: a radio is told in several steps, between which nothing is to be opened. */
  #closed: Promise<unknown> = Promise.resolve();
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
    return this.state === "open";
  }

  /** While it is being opened it waits for drivers. */
  get state(): "closed" | "waiting" | "open" {
    if (this.#opening === undefined) return "closed";
    return this.#opening.open ? "open" : "waiting";
  }

  /** Some driver can let devices in. */
  get isAble(): boolean {
    return this.#drivers().some((driver) => driver.joins);
  }

  /** Undefined while it is not open. */
  get opened(): OpenJoining | undefined {
    return this.#opening?.opened;
  }

  /**
   * Opens joining for `seconds`, once the drivers that are starting are ready; `report` gets every step, the last is
   * `closed`. With `newNetwork` an adapter that holds a network of its own gives it up first. With `person` somebody reads the
   * steps, and may answer their questions by `answer`. Throws an OperatorError when joining is open already, no driver can let
   * devices in, or there is no network to give up.
   */
  async open(
    seconds: number,
    report: (step: JoiningStep) => void,
    {
      newNetwork = false,
      person,
      by = "command",
    }: { newNetwork?: boolean; person?: PairingAbility | undefined; by?: OpenJoining["by"] } = {},
  ): Promise<void> {
    const able = this.#requireAble();
    const opening: JoiningUnderWay = {
      report,
      open: false,
      joined: 0,
      failed: 0,
      drivers: [],
      cancelTimer: () => {},
      giveUp: () => {},
    };
    this.#opening = opening;
    try {
      await this.#closed;
      await this.#started(able, opening);
      if (newNetwork && this.#opening === opening) {
        for (const driver of able) driver.formNewNetwork();
        await this.#started(able, opening);
      }
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
    const refusals = await this.#openAll(able, opening, seconds, person);
    if (this.#opening !== opening) {
      throw new OperatorError("joining was closed while it was being opened", "open it again");
    }
    if (opening.drivers.length === 0) {
      this.#opening = undefined;
      throw new OperatorError(
        `no driver could open joining (${refusals.join("; ")})`,
        "see lintel status, correct it and try again",
      );
    }
    opening.open = true;
    const since_ms = this.#clock.now().unix_ms;
    opening.opened = { by, since_ms, until_ms: since_ms + seconds * 1000 };
    opening.cancelTimer = this.#clock.after(seconds * 1000, () => void this.close());
    this.#changed("opened");
    this.#log.info(`joining is open for ${seconds} s`);
    for (const refusal of refusals) this.#log.warn(`joining is not open through ${refusal}`);
    report({
      state: "open",
      seconds,
      drivers: opening.drivers.map((driver) => driver.name),
      ...(refusals.length === 0 ? {} : { problems: refusals }),
    });
  }

  /** The drivers that let devices in. @throws OperatorError where there is none, or joining is open already */
  #requireAble(): readonly AttachedDriver[] {
    if (this.#opening !== undefined) {
      throw new OperatorError(openAlready, "wait until it closes, or stop the other lintel pair");
    }
    const able = this.#drivers().filter((driver) => driver.joins);
    if (able.length > 0) return able;
    throw new OperatorError(
      "no driver of this gateway lets devices join",
      "add a [zigbee] or [ble] section to its configuration and restart it",
    );
  }

  /** Opens joining through each driver; answers which could not, and why. */
  async #openAll(
    able: readonly AttachedDriver[],
    opening: JoiningUnderWay,
    seconds: number,
    person: PairingAbility | undefined,
  ): Promise<string[]> {
    const refusals: string[] = [];
    for (const driver of able) {
      if (this.#opening !== opening) break;
      try {
        requireListening(driver);
        await driver.openJoining(seconds, person && this.#personAt(opening, person));
        opening.drivers.push(driver);
        // Joining was closed meanwhile, by a stop: this driver closes too.
        if (this.#opening !== opening) await driver.closeJoining();
      } catch (error) {
        refusals.push(`${driver.name} ${messageOf(error)}`);
      }
    }
    return refusals;
  }

  /** The person's answer to the question that was asked last. Throws an OperatorError when none is open. */
  answer(text: string): void {
    const answered = this.#opening?.answered;
    if (answered === undefined)
      throw new OperatorError("no device asks for anything now", "wait until one does");
    answered(text);
  }

  /** The person who opened joining, for questions of drivers. */
  #personAt(opening: JoiningUnderWay, ability: PairingAbility): PairingPerson {
    const ask = (step: JoiningStep) => this.#ask(opening, step);
    return {
      types: ability === "types",
      reads: (address, digits) => opening.report({ state: "reads", address, digits }),
      typesNumber: (address) => ask({ state: "types", address }),
      compares: async (address, digits) => (await ask({ state: "compares", address, digits })) === "yes",
    };
  }

  /** The answer to a question; undefined when none comes in time, another is asked, or joining closes. */
  async #ask(opening: JoiningUnderWay, step: JoiningStep): Promise<string | undefined> {
    if (this.#opening !== opening) return undefined;
    const { promise, resolve } = Promise.withResolvers<string | undefined>();
    opening.giveUp();
    const cancel = this.#clock.after(question_max_ms, () => resolve(undefined));
    opening.answered = resolve;
    opening.giveUp = () => resolve(undefined);
    opening.report(step);
    const text = await promise;
    cancel();
    if (opening.answered === resolve) delete opening.answered;
    return text?.trim();
  }

  /** Closes joining; nothing happens where it is not open. */
  async close(): Promise<void> {
    const opening = this.#opening;
    if (opening === undefined) return;
    this.#opening = undefined;
    opening.cancelTimer();
    opening.giveUp();
    this.#closed = Promise.all(opening.drivers.map((driver) => driver.closeJoining()));
    await this.#closed;
    if (opening.open) {
      this.#log.info(`joining is closed: ${opening.joined} joined, ${opening.failed} failed`);
      this.#changed("closed");
    }
    opening.report({ state: "closed", joined: opening.joined, failed: opening.failed });
  }

  /** Waits until all drivers have started, `start_wait_max_ms` at most, or until joining closes. */
  async #started(drivers: readonly AttachedDriver[], opening: JoiningUnderWay): Promise<void> {
    const starting = () => drivers.filter((driver) => driver.status().state === "starting");
    const names = starting().map(({ name }) => name);
    if (names.length === 0) return;
    opening.report({ state: "waiting", drivers: names });
    for (let waited_ms = 0; waited_ms < start_wait_max_ms; waited_ms += look_interval_ms) {
      await new Promise<void>((resolve) => this.#clock.after(look_interval_ms, resolve));
      if (starting().length === 0 || this.#opening !== opening) return;
    }
  }

  /** Closes joining for good; devices that do not get in because of that are worth no warning. */
  stop(): Promise<void> {
    this.#stopping = true;
    return this.close();
  }

  /** A button was pressed: opens joining, or closes it where it is open. */
  press(): void {
    const done =
      this.#opening === undefined ? this.open(button_seconds, () => {}, { by: "button" }) : this.close();
    done.catch((error) => this.#log.warn(messageOf(error)));
  }

  /** A driver tells of a device that is joining. */
  note(event: JoinEvent): void {
    const opening = this.#opening;
    if (event.state === "started") {
      this.#log.info(`${event.address} is joining`);
      opening?.report(event);
    } else if (event.state === "bonded") {
      this.#log.info(`${event.address} is bonded with this gateway`);
      opening?.report(event);
    } else if (event.state === "joined") {
      const { address, kind, subtype, model, vendor } = event.device;
      this.#log.info(`${address} joined${model === undefined ? "" : ` (${vendor ?? ""} ${model})`}`);
      if (opening !== undefined) opening.joined++;
      this.#changed("joined");
      opening?.report({ state: "joined", address, kind, subtype, model, vendor });
    } else {
      const level = this.#stopping ? "info" : "warn";
      this.#log[level](`${event.address} could not join (${event.reason}): ${event.remedy}`);
      if (opening !== undefined) opening.failed++;
      opening?.report(event);
    }
  }
}

/** Throws the reason for which a driver cannot let devices in. */
function requireListening(driver: AttachedDriver): void {
  const { state, problem } = driver.status();
  if (problem !== undefined) throw new Error(problem);
  if (state === "starting") throw new Error(`is still starting after ${start_wait_max_ms / 1000} s`);
}

interface JoiningUnderWay {
  readonly report: (step: JoiningStep) => void;
  /** Whether devices are let in; before that it waits for drivers. */
  open: boolean;
  opened?: OpenJoining;
  readonly drivers: AttachedDriver[];
  joined: number;
  failed: number;
  cancelTimer: () => void;
  /** Takes the answer to the question that is open, and ends it without one. */
  answered?: (text: string) => void;
  giveUp: () => void;
}
