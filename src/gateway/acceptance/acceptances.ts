import { join } from "node:path";
import { type Clock, clockQuality } from "../../base/clock.ts";
import { readPlainFile, writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { signedJson } from "../../base/signed-json.ts";
import { plainLine, shortLine } from "../../base/text.ts";
import {
  type Acceptance,
  type AcceptanceFault,
  type AcceptanceFindings,
  type AcceptanceUpload,
  acceptanceAnswer,
  acceptanceReportOf,
  type FinishedVisit,
  type KeptAcceptance,
  type VisitFindings,
} from "../../domain/acceptance.ts";
import { acceptanceFaults } from "../../domain/acceptance-faults.ts";
import {
  acceptances_bytes_max,
  acceptancesFile,
  acceptancesInFile,
  readableBytes,
} from "../../domain/acceptance-file.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import { isPaused } from "../../store/pause-requests.ts";
import type { Store } from "../../store/store.ts";
import { boxKey } from "../box-key.ts";
import { scansIn } from "../mesh-scans.ts";
import { visitFindings } from "./findings.ts";
import { keepVisit, noteAsk, visitIn } from "./visit-file.ts";

/** A data directory with records, which the page, the command and the first night change. */
export interface RecordsPlace {
  readonly directory: string;
  /** Keeps everybody else from changing them. @throws OperatorError where somebody does not end */
  readonly hold: () => Disposable;
}

export interface AcceptanceParts extends RecordsPlace {
  readonly store: Pick<Store, "itemOverviews" | "item" | "oldestFirst" | "givenNames" | "pauses">;
  readonly clock: Clock;
  readonly version: string;
  readonly home: number | undefined;
  readonly timezone: string;
  /** Lines of curtain sensors in the configuration. */
  readonly walking: readonly WalkingLine[];
  /** Brings everything to disk that the box has heard: the state of a device may wait for a minute. */
  readonly flush: () => Promise<void>;
  /** Faults of the box that somebody has to mend. */
  readonly troubles: () => Promise<readonly AcceptanceFault[]>;
  /** Uploads, and compares every day with central; absent: everything stays in this box. */
  readonly central?: {
    readonly url: string;
    verify(stop: AbortSignal): Promise<{ readonly sent: number; readonly differing_days: number }>;
  };
}

/** A visit that proves an installation, and the signed records of all visits: `acceptances.json` in the data directory. */
export class Acceptances {
  readonly #parts: AcceptanceParts;
  readonly #stop = new AbortController();
  #changes = 0;
  #finishing: Promise<KeptAcceptance> | undefined;
  #finished: FinishedVisit | undefined;

  constructor(parts: AcceptanceParts) {
    this.#parts = parts;
  }

  /** Grows with each task, and while a record is made. */
  get changes(): number {
    return this.#changes;
  }

  /** The record that is being made, or was made last by this process; undefined before the first. */
  get finish(): "making" | FinishedVisit | undefined {
    return this.#finishing === undefined ? this.#finished : "making";
  }

  /** The technician does this from now on: tries the device of an address, or walks along a line. */
  ask(of: string): void {
    const { directory, clock } = this.#parts;
    noteAsk(directory, { of: of.slice(0, 200), at_ms: clock.now().unix_ms });
    this.#finished = undefined;
    this.#changes += 1;
  }

  /** The findings of the visit so far, and the last task. */
  async found(): Promise<VisitFindings> {
    const { visit, orders, findings } = await this.#look();
    const { devices, lines } = findings;
    return { devices, lines, orders, faults: acceptanceFaults(findings), now: visit.asks.at(-1)?.of ?? null };
  }

  /** Begins to make the record; `finish` says how it goes. A second call while one is made begins nothing. */
  begin(tester: string): void {
    if (this.#finishing !== undefined) return;
    this.complete(tester).then(
      (kept) => this.#end({ number: kept.signed.number, answer: acceptanceAnswer(acceptanceReportOf(kept)) }),
      (thrown) => this.#end({ why: messageOf(thrown) }),
    );
  }

  /** Freezes all that was found into a signed record, whether it passes or not. @throws OperatorError */
  complete(tester: string): Promise<KeptAcceptance> {
    this.#finishing ??= this.#complete(tester).finally(() => {
      this.#finishing = undefined;
      this.#changes += 1;
    });
    this.#changes += 1;
    return this.#finishing;
  }

  stop(): void {
    this.#stop.abort(new OperatorError("the gateway stopped", "finish the visit again"));
  }

  #end(finished: FinishedVisit): void {
    this.#finished = finished;
    this.#changes += 1;
  }

  async #complete(written: string): Promise<KeptAcceptance> {
    const { directory, flush, troubles } = this.#parts;
    const tester = plainLine(written).trim().slice(0, tester_length_max);
    if (tester === "")
      throw new OperatorError("the name of the tester is missing", "write who tried the home");
    const upload = await this.#uploaded();
    await flush();
    const findings = { ...(await this.#look()).findings, upload };
    const faults = [...(await troubles()), ...acceptanceFaults(findings)]
      .slice(0, faults_max)
      // One in many words, of many devices, would make the record one that nobody reads again.
      .map(({ what, remedy }) => ({
        what: shortLine(what, words_max),
        remedy: shortLine(remedy, words_max),
      }));
    const [made] = changeAcceptances(this.#parts, (kept): [KeptAcceptance, ...KeptAcceptance[]] => {
      const record: Acceptance = {
        format: "lintel acceptance 1",
        number: 1 + Math.max(0, ...kept.map(({ signed }) => signed.number)),
        ...{ tester, ...findings, passed: faults.length === 0, faults },
      };
      return [{ ...signedJson(record, boxKey(directory)), nights: [] }, ...kept];
    });
    if (made.signed.passed) keepVisit(directory, { asks: [] });
    // Central gets the record at once; where it is away, the next upload of the night brings it.
    if (upload.url !== null && upload.failure === null) await this.#uploaded();
    return made;
  }

  async #look() {
    const { directory, store, clock, version, home, timezone, walking } = this.#parts;
    const { unix_ms: now_ms, quality } = clock.now();
    const visit = visitIn(directory, now_ms);
    const scans = scansIn(directory);
    const { devices, lines, orders } = await visitFindings({ store, visit, walking, scans, home, now_ms });
    const findings: AcceptanceFindings = {
      homeid: home ?? null,
      timezone,
      started: Math.floor((visit.asks[0]?.at_ms ?? now_ms) / 1000),
      finished: Math.floor(now_ms / 1000),
      release: version,
      devices: [...devices],
      lines: [...lines],
      clockknown: quality === clockQuality.synchronised,
      clockdoubt: clock.doubt?.()?.what ?? null,
      paused: isPaused(await store.pauses(), clock),
      upload: { url: null, sent: null, differingdays: null, failure: null },
    };
    return { visit, orders, findings };
  }

  async #uploaded(): Promise<AcceptanceUpload> {
    const { central } = this.#parts;
    const nothing = { url: central?.url ?? null, sent: null, differingdays: null, failure: null };
    if (central === undefined) return nothing;
    const stop = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(upload_ms_max)]);
    try {
      const { sent, differing_days } = await central.verify(stop);
      return { ...nothing, sent, differingdays: differing_days };
    } catch (thrown) {
      this.#stop.signal.throwIfAborted();
      const why = stop.aborted
        ? `it did not answer within ${upload_ms_max / 1000} s`
        : messageOf(thrown, 300);
      return { ...nothing, failure: why };
    }
  }
}

/** The records of a data directory, newest first. */
export function acceptancesIn(directory: string): readonly KeptAcceptance[] {
  const text = readPlainFile(join(directory, acceptancesFile), acceptances_bytes_max);
  return acceptancesInFile(text === undefined ? undefined : new TextEncoder().encode(text));
}

/** Puts other records in the place of those that are kept, and answers them: one change at a time, each from what the one before has left. @throws OperatorError where they are too many or too large, or as `hold` does */
export function changeAcceptances<Changed extends readonly KeptAcceptance[]>(
  { directory, hold }: RecordsPlace,
  change: (kept: readonly KeptAcceptance[]) => Changed,
): Changed {
  using _held = hold();
  const changed = change(acceptancesIn(directory));
  const content = readableBytes(changed);
  if (content === undefined)
    throw new OperatorError(
      `the record does not fit beside the ${changed.length - 1} that this box has`,
      "go on with another box, or with a data directory of its own",
    );
  writeDurably(join(directory, acceptancesFile), content);
  return changed;
}

const tester_length_max = 100;
const faults_max = 1_000;
/** Characters of a fault and of a remedy, before the one that says that there were more. */
const words_max = 499;
/** A technician waits for it. */
const upload_ms_max = 60_000;
