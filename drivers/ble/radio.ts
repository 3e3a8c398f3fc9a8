import type { Peripheral as NoblePeripheral } from "@stoprocent/noble";
import type { Moment } from "../../src/clock.ts";
import { OperatorError } from "../../src/errors.ts";
import type { Log } from "../../src/log.ts";
import type { Advertisement } from "../peripheral.ts";
import type { Session } from "../wire/reconnect.ts";
import { takeAdvertisement } from "./advertisement.ts";
import { type NobleBearer, takeOver } from "./bearer.ts";
import { type CommandAnswer, opcode, status } from "./hci.ts";
import { ControllerLine, type LineOptions, silentFault } from "./line.ts";
import { type OpenNoble, startNoble } from "./noble.ts";

export interface RadioOptions extends LineOptions {
  readonly log: Log;
  /** Called for each advertising packet, as it arrives. */
  readonly onAdvertisement: (advertisement: Advertisement, moment: Moment) => void;
}

/** A quiet controller is asked this often whether it still answers. */
export const probe_interval_ms = 60_000;
/** A device that was just heard and does not take a connection within this is given up. */
export const connect_max_ms = 5_000;
/** What starting a scan, and giving up a connection, may take before the controller is. */
const settle_max_ms = 3_000;
/** How long a device that is being disconnected is waited for. */
const disconnect_max_ms = 2_000;

/** noble's own lets a link die after 0.42 s without a packet, which is too soon through a wall. */
const linkParameters = { minInterval: 24, maxInterval: 40, latency: 0, timeout: 400 };

/** The one owner of a controller, for as long as the controller works: scanning, and one connection at a time. */
export class Radio implements Session {
  readonly detail: string;
  readonly ended: Promise<OperatorError>;
  readonly #options: RadioOptions;
  readonly #line: ControllerLine;
  readonly #open: OpenNoble;
  /** Raised when the controller is gone or given back. */
  readonly #over = new AbortController();
  #cancelProbe = () => {};
  #scanning = false;
  #scanStarted = () => {};

  private constructor(options: RadioOptions, line: ControllerLine, open: OpenNoble, detail: string) {
    this.#options = options;
    this.#line = line;
    this.#open = open;
    this.detail = detail;
    this.ended = line.ended;
    void line.ended.then(() => this.#over.abort());
    line.onAnswer = (answer, command) => this.#answered(answer, command);
    open.noble.on("discover", (peripheral: NoblePeripheral) => {
      const moment = options.clock.now();
      options.onAdvertisement(takeAdvertisement(peripheral), moment);
    });
    this.#probe();
  }

  /** Opens the controller and scans. Rejects with an OperatorError, and has then released the port. */
  static async open(options: RadioOptions, signal: AbortSignal): Promise<Radio> {
    const line = await ControllerLine.open(options, signal);
    let open: OpenNoble | undefined;
    try {
      open = await startNoble(line, (message) => options.log.debug(message));
      const detail = await ready(open, line, options.port, signal);
      const radio = new Radio(options, line, open, detail);
      await radio.scan();
      return radio;
    } catch (thrown) {
      open?.stop();
      await line.close();
      throw thrown;
    }
  }

  /** Drops all that noble remembers of a device. */
  forget(address: string): void {
    this.#open.forget(idOf(address));
  }

  /** Scans until a connection is asked for. Resolves when the controller has agreed; fails the line otherwise. */
  async scan(): Promise<void> {
    if (this.#scanning) return;
    await this.#settled("it does not start to scan", (done) => {
      // noble calls back at the first of the three answers, before the scan is on.
      this.#scanStarted = done;
      this.#open.noble.startScanning([], true);
    });
  }

  /**
   * Connects to a device that was heard. Scanning pauses until the connection is there or is given up. Rejects
   * with the reason in a few words.
   */
  async connect(address: string, signal: AbortSignal): Promise<NobleBearer> {
    const id = idOf(address);
    const peripheral = this.#open.peripheralOf(id);
    if (peripheral === undefined) throw new Error("it was not heard of late");
    const { promise, resolve, reject } = Promise.withResolvers<NobleBearer>();
    let taken: NobleBearer | undefined;
    const giveUp = () => {
      reject(
        new Error(signal.aborted ? "the driver stops" : `no connection within ${connect_max_ms / 1_000} s`),
      );
    };
    const cancel = this.#options.clock.after(connect_max_ms, giveUp);
    signal.addEventListener("abort", giveUp, { once: true });
    const ended = () => {
      taken?.lost(new Error("the connection ended"));
      reject(new Error("the connection ended at once"));
    };
    peripheral.once("disconnect", ended);
    // In the event itself: what the device says first may come in the same piece.
    connectNoble(peripheral, (error) => {
      if (error !== undefined && error !== null) return reject(error);
      try {
        taken = takeOver(this.#open, id, () => this.#hangUp(peripheral));
        resolve(taken);
      } catch (thrown) {
        reject(thrown);
      }
    });
    try {
      return await promise;
    } catch (thrown) {
      await this.#giveUp(peripheral);
      peripheral.removeListener("disconnect", ended);
      throw thrown;
    } finally {
      cancel();
      signal.removeEventListener("abort", giveUp);
      if (!this.#over.signal.aborted && !signal.aborted) await this.scan();
    }
  }

  /** Ends a connection and waits until it has ended. */
  async disconnect(address: string): Promise<void> {
    const peripheral = this.#open.peripheralOf(idOf(address));
    if (peripheral === undefined || peripheral.state === "disconnected") return;
    const { promise, resolve } = Promise.withResolvers<void>();
    peripheral.once("disconnect", resolve);
    this.#hangUp(peripheral);
    await this.#within(disconnect_max_ms, promise);
    peripheral.removeListener("disconnect", resolve);
  }

  async close(): Promise<void> {
    this.#over.abort();
    this.#cancelProbe();
    this.#open.noble.removeAllListeners("discover");
    this.#open.stop();
    await this.#line.close();
  }

  #hangUp(peripheral: NoblePeripheral): void {
    if (!this.#over.signal.aborted && peripheral.state === "connected") peripheral.disconnect();
  }

  /** Takes back a request to connect, and waits until the controller says that it is over. */
  async #giveUp(peripheral: NoblePeripheral): Promise<void> {
    if (this.#over.signal.aborted || peripheral.state === "disconnected") return;
    if (peripheral.state === "connected") return this.disconnect(peripheral.address);
    const pending = this.#open.isConnecting(peripheral.id);
    if (!pending) {
      peripheral.cancelConnect();
      return;
    }
    await this.#settled("it does not give up a connection", (done) => {
      this.#open.hci.once("leConnComplete", () => done());
      peripheral.cancelConnect();
    });
  }

  #answered({ opcode: of, status: said }: CommandAnswer, command: Buffer): void {
    if (of === opcode.reset) this.#scanning = false;
    if (of !== opcode.leSetScanEnable) return;
    const enables = command[4] === 1;
    if (said === status.success) this.#scanning = enables;
    else if (enables) {
      // noble takes a refused scan for a running one.
      this.#line.fail(`it refuses to scan with error 0x${said.toString(16).padStart(2, "0")}`);
    }
    if (this.#scanning) this.#scanStarted();
  }

  /** A controller that hangs says nothing, as does one that hears no device: a question tells them apart. */
  #probe(): void {
    this.#cancelProbe = this.#options.clock.after(probe_interval_ms, () => {
      this.#open.hci.readLocalVersion();
      this.#probe();
    });
  }

  /** Waits for `begin` to call back; a controller that does not is none. */
  async #settled(otherwise: string, begin: (done: () => void) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<true>();
    begin(() => resolve(true));
    const done = await this.#within(settle_max_ms, promise);
    if (done === undefined && !this.#over.signal.aborted) this.#line.fail(otherwise);
  }

  /** What `work` gives, or undefined when it takes longer or the controller is gone. `work` never rejects. */
  #within<Result>(most_ms: number, work: Promise<Result>): Promise<Result | undefined> {
    const { signal } = this.#over;
    return new Promise((resolve) => {
      const end = (result?: Result) => {
        cancel();
        signal.removeEventListener("abort", stop);
        resolve(result);
      };
      const stop = () => end();
      const cancel = this.#options.clock.after(most_ms, stop);
      signal.addEventListener("abort", stop, { once: true });
      if (signal.aborted) stop();
      void work.then(end);
    });
  }
}

/** Waits until noble has found out about the controller and says what it is. */
async function ready(
  open: OpenNoble,
  line: ControllerLine,
  port: string,
  signal: AbortSignal,
): Promise<string> {
  const { promise: usable, resolve, reject } = Promise.withResolvers<void>();
  let version = 0;
  open.hci.once("readLocalVersion", (hciVersion: number) => {
    version = hciVersion;
  });
  open.noble.on("stateChange", (state) => {
    if (state === "poweredOn") resolve();
    if (state === "unsupported") {
      reject(
        new OperatorError(
          `the controller on ${port} has no Bluetooth LE`,
          "use one of Bluetooth 4.0 or newer",
        ),
      );
    }
  });
  const stop = () => reject(silentFault(port, "the start was given up"));
  signal.addEventListener("abort", stop, { once: true });
  void line.ended.then(reject);
  try {
    await usable;
  } finally {
    signal.removeEventListener("abort", stop);
  }
  const name = versions[version] ?? `of version ${version}`;
  return `Bluetooth ${name} controller ${open.hci.address ?? ""} on ${port}`;
}

/** Assigned Numbers, 2.1. */
const versions: Readonly<Record<number, string>> = {
  6: "4.0",
  7: "4.1",
  8: "4.2",
  9: "5.0",
  10: "5.1",
  11: "5.2",
  12: "5.3",
  13: "5.4",
  14: "6.0",
};

function idOf(address: string): string {
  return address.replaceAll(":", "");
}

/** noble takes parameters of the connection, which its types leave out. */
function connectNoble(peripheral: NoblePeripheral, called: (error: Error | null | undefined) => void): void {
  const connect = peripheral.connect.bind(peripheral) as unknown as (
    parameters: typeof linkParameters,
    called: (error: Error | null | undefined) => void,
  ) => void;
  connect(linkParameters, called);
}
