import { type Clock, clockQuality } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import type { DeviceFacts } from "../../domain/device-facts.ts";
import type { BufferCursor, Device, DeviceState, Gap, Reading } from "../../domain/reading.ts";
import type { Appended, IdentityNotes, MovedCursor } from "../../store/gateway/gateway-store.ts";
import { ReadingRefused } from "../../store/store.ts";
import { Pace, type Pause } from "./commit-pace.ts";
import { Dating, type DatingStore, type OfferedFact, type Prepared } from "./dating.ts";
import { NoteBook } from "./note-book.ts";
import { faultOfCursor, faultOfGap, faultOfReading, type IntakeFault, refusalLog } from "./validity.ts";

/**
 * Takes readings from drivers and commits them in the order in which they came: at once after a quiet stretch, in
 * groups while more come: see commit-pace.ts. A reading of a burst waits at most for two commits and the pause between them; while the disk
 * fails it waits in memory, up to `queue_max` of them. What comes before the time is known is committed without a number, and
 * gets it later: see dating.ts.
 */
export class Ingest {
  readonly #store: DatingStore;
  readonly #dating: Dating;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #group_max: number;
  readonly #queue_max: number;
  readonly #pace: Pace;
  readonly #notes: NoteBook;
  readonly #sayRefused: ReturnType<typeof refusalLog>;
  readonly #identities:
    | { take(): IdentityNotes | undefined; giveBack(notes: IdentityNotes): void }
    | undefined;
  readonly #onCommit: ((duration_ms: number) => void) | undefined;
  /** Waiting entries, oldest first; those of the commit in progress stay until it succeeds. */
  #queue: Queued[] = [];
  #cancelLook: (() => void) | undefined;
  #closed = false;
  #closing: Promise<void> | undefined;
  #committed = 0;
  #hasCommitted = false;
  #refused = 0;
  #late = 0;
  /** Callers who wait for the next commit. */
  readonly #flushes: (() => void)[] = [];
  #lastCommit: IngestStatus["lastCommit"];
  /** The clock for drivers: while readings wait for the time it is not known to be right, so that no device is set or dated by a clock that has leapt. */
  readonly clock: Clock;
  #problem: Problem | undefined;

  constructor(options: IngestOptions) {
    this.#store = options.store;
    this.#clock = options.clock;
    this.#log = options.log;
    this.#group_max = options.group_max ?? 2_000;
    this.#queue_max = options.queue_max ?? 20_000;
    this.#dating = new Dating({ ...options, release_max: this.#group_max });
    this.clock = {
      boot: options.clock.boot,
      now: () => this.#dating.now(),
      after: (delay_ms, action) => options.clock.after(delay_ms, action),
    };
    this.#sayRefused = refusalLog(options);
    this.#onCommit = options.onCommit;
    this.#identities = options.identities;
    this.#pace = new Pace({
      clock: options.clock,
      interval_ms: options.groupInterval_ms ?? 100,
      burst_max: options.burst_max ?? 256,
      commit: () => this.#commitNext(),
    });
    this.#notes = new NoteBook({
      clock: options.clock,
      interval_ms: options.notesInterval_ms ?? 60_000,
      onDue: () => this.#pace.want(),
      onRefused: (fault) => this.#sayRefused(fault, "the state is left out"),
    });
    // Where it fails, the first commit tries again, and says so.
    this.#dating.load().catch(() => {});
    this.#lookLater();
  }

  /**
   * Resolves once the reading is on disk, with whether it is recorded: what is of a pause, or of an erased time, is not. Rejects with an OperatorError, after counting and saying so, when it
   * is not a possible reading of its series and device, or when the queue is full. `cursor` is committed with it;
   * `listener` is the name of the driver that heard it.
   */
  accept(reading: Reading, cursor?: BufferCursor, listener?: string): Promise<boolean> {
    const now = this.#clock.now();
    // By the same clock, so that nothing is lost where a driver has left it out.
    const { monotonic_ms = now.monotonic_ms - (now.unix_ms - reading.stamp_ms) } = reading;
    const clocked = reading.clock === clockQuality.unsynchronised ? { ...reading, monotonic_ms } : reading;
    const fault = faultOfReading(clocked) ?? faultOfCursor(cursor);
    const taken = this.#put(
      { fact: { reading: clocked }, monotonic_ms, cursor },
      fault,
      "the reading is left out",
    );
    if (fault === undefined) this.heard({ device: reading.device, heard_ms: now.unix_ms }, listener);
    return taken;
  }

  /** A commit is due although nothing was heard. */
  want(): void {
    if (!this.#closed) this.#pace.want();
  }

  /** Stores the state of a device with the next commit, or within `notesInterval_ms`. Never fails. */
  heard(state: DeviceState, listener?: string): void {
    if (!this.#closed) this.#notes.heard(listener === undefined ? state : { ...state, listener });
  }

  /** Brings everything to disk that was heard before, states of devices too. Resolves with the end of that commit, also where it failed. */
  flush(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#flushes.push(resolve);
      this.#pace.wantAtOnce();
    });
  }

  /** Keeps facts of a device, with its next sign of life. Never fails. */
  describe(device: Device, facts: DeviceFacts): void {
    if (!this.#closed) this.#notes.describe(device, facts);
  }

  /** Notes a device that was let in, with the next commit: it is an item before it says anything more. Never fails. */
  joined(device: Device, listener: string): void {
    if (this.#closed) return;
    this.heard({ device, heard_ms: this.#clock.now().unix_ms }, listener);
    this.#pace.want();
  }

  /** Resolves once the gap is on disk; rejects like `accept`. */
  async gap(gap: Gap, cursor?: BufferCursor): Promise<void> {
    const now = this.#clock.now();
    const monotonic_ms = now.monotonic_ms - (now.unix_ms - gap.to_ms);
    const fault = faultOfGap(gap) ?? faultOfCursor(cursor);
    await this.#put({ fact: { gap }, monotonic_ms, cursor }, fault, "the gap is left out");
  }

  /** Notes that the driver of this name hears its devices now. Call it several times a minute. */
  listening(listener: string): void {
    if (this.#closed) return;
    this.#notes.listening(listener);
    // A clock that is looked at often can hide only small steps.
    if (this.#dating.loaded && this.#dating.observe()) this.#pace.want();
  }

  #put(entry: OfferedFact, fault: IntakeFault | undefined, remedy: string): Promise<boolean> {
    const wrong = this.#closed ? closedFault : fault;
    if (wrong !== undefined) return Promise.reject(this.#refuse(wrong, remedy));
    if (this.#queue.length >= this.#queue_max)
      return Promise.reject(this.#refuse(fullFault, this.#fullRemedy()));
    return new Promise((resolve, reject) => {
      this.#queue.push({ ...entry, resolve, reject });
      if (this.#queue.length >= this.#group_max) this.#pace.wantAtOnce();
      else this.#pace.want();
    });
  }

  /** Counts dropped data, under a stable name; stored with the next commit, or within `notesInterval_ms`. */
  dropped(what: string, count = 1): void {
    if (!this.#closed) this.#notes.dropped(what, count);
  }

  status(): IngestStatus {
    return {
      queued: this.#queue.length,
      committed: this.#committed,
      refused: this.#refused,
      late: this.#late,
      waiting: this.#dating.waiting,
      why: this.#dating.why,
      lastCommit: this.#lastCommit,
      problem: this.#problem?.text,
    };
  }

  /** Commits the queue and the notes, trying once more where the disk has failed; refuses readings from now on. */
  close(): Promise<void> {
    this.#closing ??= this.#finish();
    return this.#closing;
  }

  async #finish(): Promise<void> {
    this.#closed = true;
    this.#notes.stop();
    this.#cancelLook?.();
    await this.#pace.stop();
    for (let before = Infinity; this.#queue.length > 0 && this.#queue.length < before; ) {
      before = this.#queue.length;
      await this.#commit();
    }
    if (this.#queue.length === 0) await this.#commit();
    if (this.#queue.length === 0) return;
    const lost = new OperatorError(
      `${this.#queue.length} readings were not on disk when Lintel stopped`,
      this.#problem?.text ?? "see the log",
    );
    this.#log.error(lost.message);
    for (const { reject } of this.#queue.splice(0)) reject(lost);
  }

  /** Makes one commit; wants the next where readings are left. */
  async #commitNext(): Promise<Pause> {
    const pause = await this.#commit();
    if (this.#queue.length > 0 || pause !== "interval") this.#pace.want();
    return pause === "interval" && this.#queue.length >= this.#group_max ? "none" : pause;
  }

  /** Commits the oldest group and all notes, after the readings that waited for the time. Never rejects. */
  async #commit(): Promise<Pause> {
    const group = this.#queue.slice(0, this.#group_max);
    const notes = this.#notes.take();
    const flushes = this.#flushes.splice(0);
    const identities = this.#identities?.take();
    let prepared: Prepared | undefined;
    try {
      if (!this.#dating.loaded) await this.#dating.load();
      if (this.#dating.observe()) await this.#release();
      const started = this.#clock.now();
      prepared = this.#dating.prepare(group, notes);
      if (group.length > 0 || notes.facts.length > 0 || notes.dropped.size > 0 || identities !== undefined) {
        const appended = await this.#store.append(prepared.readings, {
          ...prepared.notes,
          cursors: cursorsOf(group, prepared),
          ...(identities && { identities }),
        });
        this.#dating.committed(prepared);
        this.#succeed(group, { appended, prepared, started_ms: started.monotonic_ms });
      }
      this.#recover();
      return "interval";
    } catch (thrown) {
      this.#notes.giveBack(notes);
      if (identities !== undefined) this.#identities?.giveBack(identities);
      const source = thrown instanceof ReadingRefused ? prepared?.sources[thrown.index] : undefined;
      if (thrown instanceof ReadingRefused && source !== undefined) {
        this.#leaveOut(thrown, source);
        return "none";
      }
      this.#fail(thrown);
      return "afterFailure";
    } finally {
      this.#lookLater();
      for (const resolve of flushes) resolve();
    }
  }

  /** Numbers everything that has waited for the time, where that is known now. */
  async #release(): Promise<void> {
    let readings = 0;
    for (;;) {
      const released = await this.#dating.release();
      if (released === undefined) break;
      this.#announce(released.appended);
      readings += released.readings;
      this.#committed += released.readings;
    }
    if (readings > 0)
      this.#log.info(`the time is known: ${readings} readings that waited for it are numbered`);
  }

  #succeed(
    group: readonly Queued[],
    { appended, prepared, started_ms }: { appended: Appended; prepared: Prepared; started_ms: number },
  ): void {
    const { unix_ms, monotonic_ms } = this.#clock.now();
    this.#queue.splice(0, group.length);
    const readings = appended.last_seq - appended.first_seq + 1 - appended.unkept.length;
    const unkept = new Set([
      ...appended.unkept.map((place) => prepared.sources[place]),
      ...appended.unkeptHeld.map((place) => prepared.heldSources[place]),
    ]);
    this.#committed += readings;
    this.#hasCommitted = true;
    // When something was left out, as in a pause, is told nowhere.
    if (unkept.size < group.length || group.length === 0) {
      this.#lastCommit = { at_ms: unix_ms, duration_ms: monotonic_ms - started_ms, readings };
      this.#onCommit?.(this.#lastCommit.duration_ms);
    }
    this.#late += group.filter(
      (entry) => isLive(entry) && monotonic_ms - entry.monotonic_ms > late_ms,
    ).length;
    this.#announce(appended);
    for (const [index, { resolve }] of group.entries()) resolve(!unkept.has(index));
  }

  #announce({ created }: Appended): void {
    for (const name of created) {
      this.#log.info(`${name} is new: it has a provisional item until the inventory names it`);
    }
  }

  #recover(): void {
    if (this.#problem === undefined) return;
    const seconds = Math.round((this.#clock.now().monotonic_ms - this.#problem.since_ms) / 1000);
    this.#problem = undefined;
    this.#log.info(`readings are written again after ${seconds} s; none that was accepted is lost`);
  }

  /** While something waits for the time, and once after the start, a commit is due although nothing comes. */
  #lookLater(): void {
    const wanted = !this.#hasCommitted || this.#dating.waiting > 0;
    if (!wanted || this.#closed || this.#cancelLook !== undefined) return;
    this.#cancelLook = this.#clock.after(look_interval_ms, () => {
      this.#cancelLook = undefined;
      this.#pace.want();
    });
  }

  /** The store has found the one reading at fault: the others go on at once. */
  #leaveOut(thrown: ReadingRefused, index: number): void {
    const [entry] = this.#queue.splice(index, 1);
    const fault = { name: "readings that the store refused", detail: thrown.what };
    entry?.reject(this.#refuse(fault, thrown.remedy));
  }

  #fail(thrown: unknown): void {
    if (this.#problem?.text === messageOf(thrown)) return;
    const since_ms = this.#problem?.since_ms ?? this.#clock.now().monotonic_ms;
    this.#problem = { text: messageOf(thrown), since_ms };
    this.#log.error(
      `readings cannot be written and wait in memory, ${this.#queue_max} at most: ${this.#problem.text}`,
    );
  }

  #refuse(fault: IntakeFault, remedy: string): OperatorError {
    this.#refused += 1;
    this.dropped(fault.name);
    return this.#sayRefused(fault, remedy);
  }

  #fullRemedy(): string {
    return this.#problem?.text ?? "the disk is too slow for so many readings at once";
  }
}

export interface IngestOptions {
  readonly store: DatingStore;
  readonly clock: Clock;
  readonly log: Log;
  /** From the end of a commit to the next at most, which what came meanwhile shares. */
  readonly groupInterval_ms?: number;
  /** Commits that may follow each other with a shorter pause; one more may with each interval that passes. */
  readonly burst_max?: number;
  /** Readings of one commit at most; so many do not wait for the interval. */
  readonly group_max?: number;
  /** Readings that may wait for the disk. */
  readonly queue_max?: number;
  /** How long the states of devices may wait for a commit. */
  readonly notesInterval_ms?: number;
  /** News of the identities of devices, kept in the commit of the reading that told it. */
  readonly identities?: { take(): IdentityNotes | undefined; giveBack(notes: IdentityNotes): void };
  /** Told after each commit how long it took. */
  readonly onCommit?: (duration_ms: number) => void;
}

interface IngestStatus {
  readonly queued: number;
  /** Readings committed and refused since the start. */
  readonly committed: number;
  readonly refused: number;
  /** Those that came as they happened, and were on disk more than two seconds later. */
  readonly late: number;
  /** Readings and signs of life that are on disk without a number until the time is known, and why. */
  readonly waiting: number;
  readonly why?: string;
  readonly lastCommit?: { readonly at_ms: number; readonly duration_ms: number; readonly readings: number };
  /** The fault and its remedy; absent while all is well. */
  readonly problem?: string;
}

interface Queued extends OfferedFact {
  resolve(isRecorded: boolean): void;
  reject(fault: OperatorError): void;
}

interface Problem {
  readonly text: string;
  readonly since_ms: number;
}

/** Whether a reading was told as it happened: one with a stamp of the device's own clock may have waited in its buffer. */
function isLive({ fact }: Pick<OfferedFact, "fact">): boolean {
  return "reading" in fact && fact.reading.deviceClock === undefined;
}

/** From the arrival of a message to the disk: a longer way is late. */
const late_ms = 2_000;

/** The last value of each cursor, and all values of those that stay where they are when something is not recorded. */
function cursorsOf(entries: readonly OfferedFact[], { readings, sources }: Prepared): MovedCursor[] {
  const stamped = new Map(sources.map((source, index) => [source, readings[index]]));
  const moved: MovedCursor[] = [];
  const last = new Map<string, MovedCursor>();
  for (const [index, { cursor, fact }] of entries.entries()) {
    if (cursor === undefined) continue;
    const reading = stamped.get(index);
    const [device, at_ms] =
      "gap" in fact
        ? [fact.gap.device, fact.gap.from_ms]
        : [fact.reading.device, (reading ?? fact.reading).stamp_ms];
    const waits = reading === undefined && "reading" in fact;
    const one = cursor.bare === undefined ? cursor : { ...cursor, of: { device, at_ms, waits } };
    if (cursor.bare === null) moved.push(one);
    else last.set(cursor.name, one);
  }
  return [...moved, ...last.values()];
}

const look_interval_ms = 10_000;
const closedFault: IntakeFault = { name: "readings after the end", detail: "Lintel is stopping" };
const fullFault: IntakeFault = { name: "readings that found the queue full", detail: "the queue is full" };
