import { existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readPlainFile, writeDurably } from "../../base/disk/safe-files.ts";
import { Outage, Undelivered } from "../../domain/outage.ts";

const moment_ms = Type.Integer({ minimum: 0 });
const whole = Type.Integer({ minimum: 0 });

/** A mail that waits for its server, or a call for its receiver. */
const WaitingNotice = Type.Object({
  /** The same for each try: a server or reader that gets it twice can tell. */
  message_id: Type.String(),
  subject: Type.String(),
  /** Of a mail its text, of a call its body. */
  text: Type.String(),
  made_ms: moment_ms,
  tries: whole,
  next_ms: moment_ms,
  failure: Type.Optional(Type.String()),
});
export type WaitingNotice = Static<typeof WaitingNotice>;

/** A recipient has at most one notice that waits: what happens until that is gone is in the next. */
const RecipientState = Type.Object({
  waiting: Type.Optional(WaitingNotice),
  mailed_ms: moment_ms,
  /** The date of the last digest, where the recipient is, and its moment. */
  digest: Type.String(),
  digest_ms: moment_ms,
});
export type RecipientState = Static<typeof RecipientState>;

const AlertState = Type.Object({
  next_id: whole,
  outages: Type.Array(Outage),
  /** Outages that were too many. */
  left_out: whole,
  recipients: Type.Record(Type.String(), RecipientState),
  /** Notices that were given up, the newest last. */
  undelivered: Type.Array(Undelivered),
});
export type AlertState = Static<typeof AlertState>;

/** The state of alerts in their directory, which only central writes; commands leave acknowledgements beside it. */
export class AlertFiles {
  readonly #directory: string;

  constructor(directory: string) {
    this.#directory = directory;
  }

  /** The state as it was kept. Where there is none, or a damaged one, it is a new one: then everything is told once more. */
  read(): AlertState {
    const found = parseIfWhole(readPlainFile(this.#path, bytes_max));
    if (Value.Check(AlertState, found)) return found;
    return { next_id: 1, outages: [], left_out: 0, recipients: {}, undelivered: [] };
  }

  write(state: AlertState): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    writeDurably(this.#path, JSON.stringify(state));
  }

  /** Leaves an acknowledgement for the central that runs, or starts next. */
  acknowledge(id: number, by: string, at_ms: number): void {
    mkdirSync(this.#spool, { recursive: true, mode: 0o700 });
    writeDurably(join(this.#spool, `${id}.json`), JSON.stringify({ by, at_ms }));
  }

  /** Enters the acknowledgements that were left, and answers how to take them away once the state is on disk. */
  takeAcknowledgements(state: AlertState): { readonly taken: number; readonly remove: () => void } {
    const names = existsSync(this.#spool) ? readdirSync(this.#spool).slice(0, acknowledgements_max) : [];
    const whole = names.filter((name) => /^\d{1,15}\.json$/.test(name));
    for (const name of whole) {
      const outage = state.outages.find(({ id }) => `${id}.json` === name);
      const found = parseIfWhole(readPlainFile(join(this.#spool, name), 4_096));
      if (outage !== undefined && Value.Check(Acknowledgement, found)) outage.acknowledged ??= found;
    }
    return {
      taken: whole.length,
      remove: () => {
        for (const name of whole) rmSync(join(this.#spool, name), { force: true });
      },
    };
  }

  get #path(): string {
    return join(this.#directory, "state.json");
  }

  get #spool(): string {
    return join(this.#directory, "acknowledged");
  }
}

const Acknowledgement = Type.Object({ by: Type.String({ maxLength: 200 }), at_ms: moment_ms });
/** Taken in at once. */
const acknowledgements_max = 1_000;
/** Of 50,000 outages with all that belongs to each. */
const bytes_max = 64 * 1024 * 1024;
