import { type Clock, repeat } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { plainLine } from "../../base/text.ts";
import { day_ms, hour_ms, localDate } from "../../base/time.ts";
import type { AlertRecipient, AlertSettings } from "../../config/alert-settings.ts";
import type { Outage, Undelivered } from "../../domain/outage.ts";
import { AlertFiles, type AlertState, type RecipientState } from "./alert-state.ts";
import { isQuiet, nextNotice } from "./due-notices.ts";
import { noticeOf, type SendNotice, testNotice } from "./notice.ts";
import { forgetHomes, isOpen, type Needy, noteNeeds, takeBack } from "./outages.ts";

/**
 * Tells people, and programs, what homes need. A notice is on disk before it is sent, and taken from there once the other side has it: a central that is
 * killed in between sends it again, under the same name, and loses none.
 */
export class AlertNotices {
  readonly #options: {
    readonly settings: AlertSettings;
    readonly send: SendNotice;
    readonly clock: Clock;
    readonly log: Log;
    /** Homes of which nobody is told anything. */
    readonly restrictedHomes: () => Promise<ReadonlySet<number>>;
    readonly newId: () => string;
  };
  readonly #files: AlertFiles;
  readonly #state: AlertState;
  #fleet: readonly Needy[] | undefined;
  #restricted: ReadonlySet<number> = new Set();
  #cancel = () => {};
  #rounding: Promise<void> = Promise.resolve();
  /** Why the last try for a recipient failed, where the log says so. */
  readonly #said = new Map<string, string>();
  #delivered = 0;
  /** How the last test of each recipient ended; empty while it is under way. */
  readonly #tests = new Map<string, { readonly at_ms: number; readonly outcome?: string }>();
  #tested_ms = Number.NEGATIVE_INFINITY;

  constructor(options: {
    settings: AlertSettings;
    send: SendNotice;
    clock: Clock;
    log: Log;
    restrictedHomes: () => Promise<ReadonlySet<number>>;
    /** A text that nobody had before. */
    newId?: () => string;
  }) {
    this.#options = { newId: () => crypto.randomUUID(), ...options };
    this.#files = new AlertFiles(options.settings.directory);
    this.#state = this.#files.read();
    // Whoever starts central again may have mended why the other side took nothing.
    for (const { waiting } of Object.values(this.#state.recipients)) if (waiting) waiting.next_ms = 0;
    const known = new Set(options.settings.recipients.map(({ to }) => to));
    for (const to of Object.keys(this.#state.recipients))
      if (!known.has(to)) delete this.#state.recipients[to];
  }

  start(): void {
    this.#cancel = repeat(this.#options.clock, round_interval_ms, () => this.round(), 0);
  }

  /** Ends the rounds, and waits a moment for notices that are under way. */
  async stop(): Promise<void> {
    this.#cancel();
    const { clock } = this.#options;
    await Promise.race([this.#rounding, new Promise<void>((end) => clock.after(stop_wait_ms, end))]);
  }

  /** The fleet as it is now, and central itself: looked at at once. */
  note(fleet: readonly Needy[]): void {
    this.#fleet = fleet;
    void this.round();
  }

  /** How many outages are open, and notices waiting, delivered since the start, and given up. */
  figures() {
    const { outages, recipients, undelivered } = this.#state;
    const waiting = Object.values(recipients).filter((one) => one.waiting !== undefined).length;
    return {
      ...{ open: outages.filter(isOpen).length, waiting, delivered: this.#delivered },
      undelivered: undelivered.length,
    };
  }

  get open(): readonly Outage[] {
    return this.#state.outages.filter(isOpen);
  }

  get undelivered(): readonly Undelivered[] {
    return this.#state.undelivered;
  }

  /** Each with what waits for it, and how its last test ended. */
  get recipients() {
    return this.#options.settings.recipients.map(({ to, duties }) => {
      const { made_ms, failure = null } = this.#state.recipients[to]?.waiting ?? {};
      return {
        ...{ to, duties, test: this.#tests.get(to) ?? null },
        waiting: made_ms === undefined ? null : { made_ms, failure },
      };
    });
  }

  /** Notes who deals with open alerts. @throws Error where that cannot be kept */
  acknowledge(ids: readonly number[], by: string): void {
    const at_ms = this.#options.clock.now().unix_ms;
    const found = this.open.filter((one) => ids.includes(one.id) && one.acknowledged === undefined);
    for (const outage of found) outage.acknowledged = { at_ms, by };
    if (found.length === 0) return;
    if (this.#keep()) return;
    for (const outage of found) delete outage.acknowledged;
    throw new Error("the acknowledgement could not be kept: the log of central says why");
  }

  /** Sends a test to every recipient, once a minute at most. Resolves at the end, or after some seconds. */
  async test(): Promise<void> {
    const { clock } = this.#options;
    const { monotonic_ms } = clock.now();
    if (monotonic_ms - this.#tested_ms < test_interval_ms) return;
    this.#tested_ms = monotonic_ms;
    const { recipients } = this.#options.settings;
    const mails = recipients.filter(({ webhook }) => webhook === undefined);
    const calls = recipients.filter(({ webhook }) => webhook !== undefined);
    const sent = Promise.all([
      mails.reduce((before, one) => before.then(() => this.#test(one)), Promise.resolve()),
      ...calls.map((one) => this.#test(one)),
    ]);
    await Promise.race([sent, new Promise<void>((end) => clock.after(test_wait_ms, end))]);
  }

  async #test(recipient: AlertRecipient): Promise<void> {
    const { send, settings, clock, newId } = this.#options;
    const { to } = recipient;
    const at_ms = clock.now().unix_ms;
    this.#tests.set(to, { at_ms });
    const outcome = await send(
      recipient,
      testNotice(recipient, { settings, id: newId(), now_ms: at_ms }),
    ).then(
      () => "it arrived",
      (thrown) => plainLine(messageOf(thrown)),
    );
    this.#tests.set(to, { at_ms, outcome });
  }

  /** Takes acknowledgements and the fleet in, writes the notices that are due, and sends those that wait. Never rejects. */
  round(): Promise<void> {
    this.#rounding = this.#rounding
      .then(() => this.#roundOnce())
      .catch((thrown) => this.#options.log.error(`alerts could not be worked on: ${messageOf(thrown)}`));
    return this.#rounding;
  }

  async #roundOnce(): Promise<void> {
    const { clock, settings, restrictedHomes } = this.#options;
    const now_ms = clock.now().unix_ms;
    // Where the store is away, its own outage is told all the same.
    this.#restricted = await restrictedHomes().catch(() => this.#restricted);
    const { taken, remove } = this.#files.takeAcknowledgements(this.#state);
    const fleet = this.#fleet;
    this.#fleet = undefined;
    if (fleet !== undefined) noteNeeds(this.#state, fleet, now_ms);
    // The fleet may be a quarter of an hour old.
    const isForgotten = forgetHomes(this.#state, this.#restricted);
    const written = settings.recipients.filter((recipient) => this.#write(recipient, now_ms));
    const isChanged = taken > 0 || fleet !== undefined || isForgotten || written.length > 0;
    if (isChanged && this.#keep()) remove();
    await this.#sendAll(now_ms);
  }

  /** Writes the next notice to a recipient, where one is due. @returns whether the state has changed */
  #write(recipient: AlertRecipient, now_ms: number): boolean {
    const { settings, newId } = this.#options;
    const { to, timezone } = recipient;
    const today = localDate(timezone, now_ms);
    const known = this.#state.recipients[to];
    // The first digest is that of tomorrow.
    const state: RecipientState = known ?? { mailed_ms: 0, digest: today, digest_ms: now_ms };
    this.#state.recipients[to] = state;
    if (state.waiting !== undefined) return known === undefined;
    const content = nextNotice(this.#state, recipient, settings.recipients, now_ms);
    if (content === undefined) return known === undefined;
    if (content.kind === "digest") Object.assign(state, { digest: today, digest_ms: now_ms });
    if (content.told.length + content.over.length === 0) return true;
    const notice = noticeOf(content, recipient, { settings, id: newId(), now_ms });
    for (const outage of content.told) outage.told[to] = now_ms;
    state.waiting = { ...notice, made_ms: now_ms, tries: 0, next_ms: now_ms };
    state.mailed_ms = now_ms;
    return true;
  }

  /** Mails have one server, and go one after the other. No receiver of a webhook makes anybody else wait. */
  async #sendAll(now_ms: number): Promise<void> {
    const due = this.#options.settings.recipients.filter((recipient) => {
      const { next_ms = Number.POSITIVE_INFINITY } = this.#state.recipients[recipient.to]?.waiting ?? {};
      return next_ms <= now_ms && !isQuiet(recipient, now_ms);
    });
    const calls = due.filter(({ webhook }) => webhook !== undefined).map((one) => this.#send(one));
    // The others would wait as long for a server that does not answer.
    for (const recipient of due.filter(({ webhook }) => webhook === undefined))
      if (!(await this.#send(recipient))) break;
    await Promise.all(calls);
  }

  /** Sends the notice that waits, and keeps how that ended. @returns false where the server of mail said nothing */
  async #send(recipient: AlertRecipient): Promise<boolean> {
    const state = this.#state.recipients[recipient.to];
    if (state === undefined) return true;
    const isAnswered = await this.#sendOnce(recipient, state);
    this.#keep();
    return isAnswered;
  }

  async #sendOnce(recipient: AlertRecipient, state: RecipientState): Promise<boolean> {
    const { send, clock, log } = this.#options;
    const { waiting } = state;
    const { to } = recipient;
    if (waiting === undefined) return true;
    try {
      await send(recipient, waiting);
      delete state.waiting;
      this.#delivered += 1;
      this.#said.delete(to);
      return true;
    } catch (thrown) {
      const failure = plainLine(messageOf(thrown));
      const now_ms = clock.now().unix_ms;
      const delay_ms = Math.min(first_delay_ms * 2 ** waiting.tries, delay_max_ms);
      state.waiting = { ...waiting, tries: waiting.tries + 1, next_ms: now_ms + delay_ms, failure };
      if (now_ms - waiting.made_ms > notice_life_ms) this.#giveUp(to, state);
      else if (failure !== this.#said.get(to))
        log.warn(`alerts could not be sent to ${to}: ${failure} (said once; they are tried for 3 days)`);
      this.#said.set(to, failure);
      return typeof (thrown as { responseCode?: unknown }).responseCode === "number";
    }
  }

  #giveUp(to: string, state: RecipientState): void {
    const { subject = "", made_ms = 0, failure = "" } = state.waiting ?? {};
    this.#options.log.error(`alerts to ${to} were given up after 3 days: ${failure}`);
    this.#state.undelivered = [...this.#state.undelivered, { to, subject, made_ms, failure }].slice(
      -undelivered_max,
    );
    takeBack(this.#state, to);
  }

  /** On a full disk it goes on in memory: a notice that is sent twice is better than none. */
  #keep(): boolean {
    try {
      this.#files.write(this.#state);
      return true;
    } catch (thrown) {
      this.#options.log.error(
        `the state of alerts cannot be written into ${this.#options.settings.directory}: ${messageOf(thrown)}`,
      );
      return false;
    }
  }
}

const round_interval_ms = 60_000;
const first_delay_ms = 60_000;
const delay_max_ms = hour_ms;
const notice_life_ms = 3 * day_ms;
const undelivered_max = 100;
const stop_wait_ms = 2_000;
const test_interval_ms = 60_000;
/** Whoever asks for a test waits no longer for its end. */
const test_wait_ms = 5_000;
