import type { Peripheral as NoblePeripheral } from "@stoprocent/noble";
import type { OperatorError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import type { Session } from "../wire/reconnect.ts";
import { type NobleBearer, takeOver } from "./bearer.ts";
import { type CommandAnswer, encodeStartEncryption, opcode, status } from "./hci.ts";
import { ControllerLine, type LineOptions } from "./line.ts";
import { loadNoble, type OpenNoble, startNoble } from "./noble.ts";
import { ready } from "./ready.ts";
import type { LinkKey } from "./security/pairing.ts";

export interface RadioOptions extends LineOptions {
  readonly log: Log;
}

/** A controller that has reported nothing for so long is started anew: it may hang, or have restarted by itself. */
export const quiet_max_ms = 60_000;
/** A device that was just heard and does not take a connection within this is given up. */
export const connect_max_ms = 5_000;
/** Longest time to start a scan, or to cancel a connection, before the controller counts as gone. A small box that is busy takes seconds. */
const settle_max_ms = 10_000;
/** How long a device that is being disconnected is waited for. */
const disconnect_max_ms = 2_000;
/** How long a device has for the key of its link, after which the link itself ends: Core 5.4, Vol 6, Part B, 5.2. */
const encrypt_max_ms = 40_000;

/** noble's own lets a link die after 0.42 s without a packet, which is too soon through a wall. */
const linkParameters = { minInterval: 24, maxInterval: 40, latency: 0, timeout: 400 };

/** The one owner of a controller, for as long as the controller works: scanning, and one connection at a time. */
export class Radio implements Session {
  readonly detail: string;
  readonly ended: Promise<OperatorError>;
  readonly #options: RadioOptions;
  readonly #line: ControllerLine;
  readonly #open: OpenNoble;
  /** Who waits for a link to be encrypted, by its handle. */
  readonly #encrypting = new Map<number, (status: number) => void>();
  /** Raised when the controller is gone or given back. */
  readonly #over = new AbortController();
  #cancelWatch = () => {};
  /** Advertising packets at the last look. */
  #reports = 0;
  /** Devices that are connected or being connected to. */
  readonly #linked = new Set<NoblePeripheral>();
  #restarting: Promise<void> = Promise.resolve();
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
    line.onEncryption = ({ handle, status: said }) => this.#encrypting.get(handle)?.(said);
    this.#watch();
  }

  /** Opens the controller and scans. Rejects with an OperatorError, and has then released the port. */
  static async open(options: RadioOptions, signal: AbortSignal): Promise<Radio> {
    // Before the port is opened: it takes a tenth of a second, and a controller whose host was killed goes on reporting.
    await loadNoble();
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

  /** Drops all that noble remembers of a device, unless it is connected. */
  forget(address: string): void {
    const id = idOf(address);
    const peripheral = this.#open.peripheralOf(id);
    if (peripheral !== undefined && !this.#linked.has(peripheral)) this.#open.forget(id);
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
    await this.#restarting;
    const peripheral = this.#open.peripheralOf(id);
    if (peripheral === undefined) throw new Error("it was not heard of late");
    this.#linked.add(peripheral);
    const { promise, resolve, reject } = Promise.withResolvers<NobleBearer>();
    let taken: NobleBearer | undefined;
    const giveUp = () => {
      reject(
        new Error(signal.aborted ? "the driver stops" : `no connection within ${connect_max_ms / 1_000} s`),
      );
    };
    const cancel = this.#options.clock.after(connect_max_ms, giveUp);
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    const ended = () => {
      this.#linked.delete(peripheral);
      taken?.lost(new Error("the connection ended"));
      reject(new Error("the connection ended at once"));
    };
    peripheral.once("disconnect", ended);
    // In the event itself: the device's first values may come in the same piece.
    connectNoble(peripheral, (error) => {
      if (error !== undefined && error !== null) return reject(error);
      try {
        const { addressType } = peripheral;
        const to = { id, address, addressType: addressType === "public" ? "public" : "random" } as const;
        taken = takeOver(this.#open, to, {
          hangUp: () => this.#hangUp(peripheral),
          encrypt: (handle, key) => this.#encrypt(handle, key),
        });
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
      this.#linked.delete(peripheral);
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
    this.#cancelWatch();
    this.#open.stop();
    await this.#line.close();
  }

  async #encrypt(handle: number, key: LinkKey): Promise<number> {
    const { promise, resolve } = Promise.withResolvers<number>();
    this.#encrypting.set(handle, resolve);
    this.#line.write(encodeStartEncryption(handle, key));
    const said = await this.#within(encrypt_max_ms, promise);
    this.#encrypting.delete(handle);
    return said ?? status.connectionTimeout;
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
    if (of === opcode.leStartEncryption && said !== status.success)
      this.#encrypting.get(command.readUInt16LE(4))?.(said);
    if (of !== opcode.leSetScanEnable) return;
    const enables = command[4] === 1;
    if (said === status.success) this.#scanning = enables;
    else if (enables) {
      // noble takes a refused scan for a running one.
      this.#line.fail(`it refuses to scan with error 0x${said.toString(16).padStart(2, "0")}`);
    }
    if (this.#scanning) this.#scanStarted();
  }

  /** Silence can be a quiet house, a controller that hangs, and one that has restarted and scans no longer. */
  #watch(): void {
    this.#cancelWatch = this.#options.clock.after(quiet_max_ms, () => {
      const quiet = this.#line.reports === this.#reports;
      this.#reports = this.#line.reports;
      if (quiet && this.#linked.size === 0) this.#restarting = this.#restart();
      this.#watch();
    });
  }

  /** Resets the controller and scans again. One that does not answer ends the line. */
  async #restart(): Promise<void> {
    const { hci, noble } = this.#open;
    await this.#settled("it does not answer a reset", (done) => {
      hci.once("reset", done);
      hci.reset();
    });
    await this.#settled("it does not end its scan", (done) => noble.stopScanning(done));
    await this.scan();
  }

  /** Waits for `begin` to call back; a controller that does not is none. */
  async #settled(otherwise: string, begin: (done: () => void) => void): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<true>();
    begin(() => resolve(true));
    const done = await this.#within(settle_max_ms, promise);
    if (done === undefined && !this.#over.signal.aborted) this.#line.fail(otherwise);
  }

  /** The result of `work`, or undefined when it takes longer or the controller is gone. `work` never rejects. */
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
