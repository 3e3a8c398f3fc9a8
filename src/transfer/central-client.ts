import { messageOf, OperatorError } from "../base/errors.ts";
import { hour_ms } from "../base/time.ts";
import { batch_readings_max } from "../store/batch.ts";
import {
  type BoundedAnswer,
  type ClientBounds,
  type ClientOptions,
  type ClientRequest,
  HttpClient,
} from "../web/client/http-client.ts";
import { TryAgainLater, type Wording } from "../web/client/http-request.ts";
import { BatchRefusalBody, homeHeader, syncPath } from "./protocol.ts";

/** `token` is a sync token of the home. */
export interface CentralClientOptions
  extends Omit<ClientOptions, "interface" | "wording" | "bounds" | "headers" | "bytes_per_s"> {
  readonly bytes_per_s: number;
  /** The home that the configuration names; absent: none is compared with the token's. */
  readonly home?: number;
  /** Failures in a row after which a request is given up; by default so many that they take two minutes. */
  readonly failures_max?: number;
  /** For how long an answer is waited for, milliseconds. */
  readonly answer_ms_max?: number;
}

/** Central as a gateway asks it. */
export class CentralClient extends HttpClient {
  /** Readings in a batch: as many as `bytes_per_s` sends in a minute. */
  readonly readings_max: number;

  constructor(options: CentralClientOptions) {
    const headers = { [homeHeader]: options.home?.toString() };
    const { failures_max = bounds.failures_max, answer_ms_max = bounds.answer_ms_max } = options;
    const bounded = { ...bounds, failures_max, answer_ms_max };
    super({ ...options, interface: syncPath, headers, wording, bounds: bounded });
    const carried = Math.floor((options.bytes_per_s * batch_s_max) / reading_bytes_max);
    this.readings_max = Math.max(1, Math.min(batch_readings_max, carried));
  }

  /** The numbers of this box are taken by another; or readings that were held are not any more, where that is no answer. */
  protected override judgeConflict(answer: BoundedAnswer, { accept }: ClientRequest): void {
    const { reason, message } = this.read(answer, BatchRefusalBody);
    if (reason !== "gap")
      throw new OperatorError(
        `${this.title} ${conflicts[reason].what} (${messageOf(message)})`,
        conflicts[reason].remedy,
      );
    if (accept?.includes(answer.status)) return;
    throw new TryAgainLater(
      `${this.title} holds less than it did a moment ago (${messageOf(message)})`,
      "was it restored from a backup? The next upload sends again what it lacks",
    );
  }
}

const wording: Wording = {
  name: "central",
  kind: "a Lintel central server",
  asker: "this gateway",
  run: "upload",
  hastening: "[upload] bytes_per_second makes it faster",
  url_setting: "[upload] url",
  certificate_setting: 'in [upload] certificate = "…"',
  url_example: "https://central.example",
  token_remedy:
    "make one at central with lintel token create NAME --scope sync --home ID, and write it into the token file",
};

const bounds: ClientBounds = {
  // A run that began at two in the morning is over when the home wakes up.
  run_ms_max: 6 * hour_ms,
  // Two minutes with the delays between them.
  failures_max: 8,
  // Central may be busy with other homes.
  answer_ms_max: 120_000,
};

const conflicts = {
  foreign: {
    what: "holds the readings of this box as another home's",
    remedy:
      "check that the token file holds the token of the home that this box is in; a box that comes from another home starts with a data directory of its own",
  },
  home: {
    what: "knows the token as another home's",
    remedy: "correct [home] id in the configuration, or write the token of this home into the token file",
  },
  diverged: {
    what: "holds other readings under the numbers of this box: two boxes run on copies of one card",
    remedy:
      "keep one of them as it is; on the other stop lintel, set its data directory aside and run lintel restore, which gives it numbers of its own",
  },
} as const;

const batch_s_max = 60;
/** Compressed: several times the size of a usual reading. */
const reading_bytes_max = 16;
