import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Host, JoinEvent } from "../drivers/driver.ts";
import { type Clock, SystemClock, sane_unix_ms } from "../src/base/clock.ts";
import type { Log } from "../src/base/log.ts";
import { day_ms } from "../src/base/time.ts";
import type { DeviceFacts } from "../src/domain/device-facts.ts";
import type {
  BufferCursor,
  Device,
  DeviceState,
  Gap,
  HeardDevice,
  IdentityClaim,
  Reading,
  Verdict,
} from "../src/domain/reading.ts";
import { Identities } from "../src/gateway/ingest/device-identities.ts";
import {
  faultOfCursor,
  faultOfDevice,
  faultOfGap,
  faultOfReading,
  type IntakeFault,
} from "../src/gateway/ingest/validity.ts";

/** Longer than a busy machine takes: it ends a wait for what never comes. */
const wait_max_ms = 300_000;

/** A device keeps nothing for longer. */
const heard_ms_max = 400 * day_ms;

/**
 * The gateway's side of a driver's contract: keeps all that the driver hands it, and lets a test wait for it. Whatever the gateway would refuse, or would put at
 * another time, fails the test.
 */
export class RecordingHost implements Host {
  readonly directory: string;
  readonly clock: Clock;
  readonly readings: Reading[] = [];
  readonly states: DeviceState[] = [];
  readonly gaps: Gap[] = [];
  /** By address. */
  readonly facts = new Map<string, DeviceFacts>();
  /** A test may put them back, as a restart finds them. */
  readonly cursors = new Map<string, string>();
  readonly joins: JoinEvent[] = [];
  /** Sightings of devices that may be anybody's, and which of them are listened to: all, unless a test says otherwise. */
  readonly sightings: HeardDevice[] = [];
  isAdmitted: (device: Device) => boolean = () => true;
  readonly localAddress = "02:00:00:00:00:0c";
  readonly drops = new Map<string, number>();
  readonly lines: string[] = [];
  /** Whether a reading is recorded: all are, unless a test says otherwise. */
  records: (reading: Reading) => boolean = () => true;
  joiningRequests = 0;
  pauseRequests = 0;
  /** The error that `accept` rejects with, instead of taking a reading. */
  refusal: Error | undefined;
  /** Fails the test outside of the driver, which may catch what is thrown. */
  onRefused = ({ name, detail }: IntakeFault): void =>
    queueMicrotask(() => {
      throw new Error(`the gateway would refuse ${name}: ${detail}`);
    });
  readonly log: Log;
  /** Who the devices are, as the gateway decides it; all came in while joining is open. */
  readonly identities: Identities;
  readonly #waiting = new Set<() => void>();

  constructor(options: { directory: string; clock?: Clock }) {
    this.directory = options.directory;
    mkdirSync(this.directory, { recursive: true });
    this.clock = options.clock ?? new SystemClock();
    this.log = this.#logNamed();
    this.identities = new Identities({
      store: {
        identities: async () => ({ identities: [], conflicts: [] }),
        settleConflict: async () => {},
        forgetDevice: async () => false,
      },
      clock: this.clock,
      log: this.log,
      openedAt_ms: () => 0,
      dropped: (what) => this.dropped(what),
      onConflict: () => {},
    });
  }

  identify(claim: IdentityClaim, options?: { readonly note?: boolean }): Verdict {
    const verdict = this.identities.identify(claim, "tested", options);
    this.#changed();
    return verdict;
  }

  async accept(reading: Reading, cursor?: BufferCursor): Promise<boolean> {
    this.#require(faultOfReading(reading) ?? faultOfCursor(cursor));
    this.readings.push(reading);
    this.#changed();
    if (this.refusal !== undefined) throw this.refusal;
    const isRecorded = this.records(reading);
    const value = isRecorded ? cursor?.value : cursor?.bare === undefined ? cursor?.value : cursor.bare;
    if (cursor !== undefined && typeof value === "string") this.cursors.set(cursor.name, value);
    return isRecorded;
  }

  admits(sighting: HeardDevice): boolean {
    this.sightings.push(sighting);
    return this.isAdmitted(sighting.device);
  }

  heard(state: DeviceState): void {
    const { heard_ms } = state;
    const least_ms = Math.min(sane_unix_ms, this.clock.now().unix_ms - heard_ms_max);
    this.#require(faultOfDevice(state.device));
    if (!Number.isSafeInteger(heard_ms) || heard_ms < least_ms)
      this.#require({ name: "signs of life at an impossible time", detail: `${heard_ms}` });
    this.states.push(state);
    this.#changed();
  }

  describe(device: Device, facts: DeviceFacts): void {
    this.facts.set(device.address, facts);
    this.#changed();
  }

  async cursor(name: string): Promise<string | undefined> {
    return this.cursors.get(name);
  }

  async gap(gap: Gap, cursor?: BufferCursor): Promise<void> {
    this.#require(faultOfGap(gap) ?? faultOfCursor(cursor));
    this.gaps.push(gap);
    this.#changed();
    if (this.refusal !== undefined) throw this.refusal;
    if (cursor !== undefined) this.cursors.set(cursor.name, cursor.value);
  }

  dropped(what: string, count = 1): void {
    this.drops.set(what, (this.drops.get(what) ?? 0) + count);
    this.#changed();
  }

  joining(event: JoinEvent): void {
    this.joins.push(event);
    this.#changed();
  }

  requestPause(): void {
    this.pauseRequests += 1;
  }

  requestJoining(): void {
    this.joiningRequests += 1;
    this.#changed();
  }

  /** The first of these lines of the log that says it. */
  said(pattern: RegExp): string | undefined {
    return this.lines.find((line) => pattern.test(line));
  }

  /**
   * Resolves with what `look` finds, as soon as something that was recorded makes it find something. `meanwhile` is done again and again, at a device's pace:
   * in `look` it would be done anew for each thing that comes of it.
   */
  async until<Found>(
    what: string,
    look: () => Found | undefined | false,
    meanwhile = () => {},
  ): Promise<Found> {
    meanwhile();
    const found = look();
    if (found !== undefined && found !== false) return found;
    return new Promise((resolve, reject) => {
      const again = () => {
        const seen = look();
        if (seen === undefined || seen === false) return;
        this.#waiting.delete(again);
        clearTimeout(timer);
        clearInterval(poll);
        resolve(seen);
      };
      const timer = setTimeout(() => {
        this.#waiting.delete(again);
        clearInterval(poll);
        reject(new Error(`waited in vain for ${what}; the log said: ${this.lines.join(" | ")}`));
      }, wait_max_ms);
      // For what is no record: the driver's status, files.
      const poll = setInterval(() => {
        meanwhile();
        again();
      }, 10);
      this.#waiting.add(again);
    });
  }

  #require(fault: IntakeFault | undefined): void {
    if (fault !== undefined) this.onRefused(fault);
  }

  #changed(): void {
    for (const again of [...this.#waiting]) again();
  }

  #logNamed(): Log {
    const put = (level: string) => (message: string) => {
      this.lines.push(`${level} ${message}`);
      this.#changed();
    };
    const log: Log = {
      debug: () => {},
      info: put("info"),
      warn: put("warn"),
      error: put("error"),
      named: () => log,
    };
    return log;
  }
}

/** A directory below the system's temporary one, and what removes it. */
export function temporaryDirectory(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), "lintel-driver-"));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** Random bytes that are the same for the same seed. */
export function seededRandom(seed: number): (bytes: number) => Uint8Array {
  let state = seed >>> 0 || 1;
  return (bytes) =>
    Uint8Array.from({ length: bytes }, () => {
      state ^= state << 13;
      state ^= state >>> 17;
      state ^= state << 5;
      return state & 0xff;
    });
}
