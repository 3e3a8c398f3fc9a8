import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import type { Clock } from "../../base/clock.ts";
import { decodingBounds } from "../../base/json-decoder.ts";
import type { Log } from "../../base/log.ts";
import { day_ms, hour_ms } from "../../base/time.ts";
import type { ListedGateway } from "../../config/gateway-list.ts";
import type { CentralStore, GatewayRecord, ReportNote, Sender } from "../../store/central/central-store.ts";
import { nothingNoted } from "../../store/exchange.ts";
import { TouchedDays } from "../../transfer/days.ts";
import { FilesFault, filesInBody, type HomeFiles, keepFiles } from "../../transfer/kept-files.ts";
import { BackupsBody, syncPath } from "../../transfer/protocol.ts";
import { type Earlier, transfer } from "../../transfer/transfer.ts";
import { GatewaySource } from "../../transfer/transfer-ends.ts";
import { type ClientBounds, type ClientOptions, HttpClient } from "../../web/client/http-client.ts";
import type { HomeAllowances, ReceivedCounts } from "../receiver/home-allowances.ts";
import { StoreTarget } from "./store-target.ts";

interface PullOptions {
  readonly gateway: ListedGateway;
  readonly store: CentralStore;
  /** Prepares the requests to the gateway; an error ends the turn. */
  readonly connect: (gateway: ListedGateway, stop: AbortSignal) => HttpClient;
  readonly clock: Clock;
  readonly log: Log;
  readonly allowances: HomeAllowances;
  readonly counts: ReceivedCounts;
  /** Central's record of this home's gateway at the start. */
  readonly known?: GatewayRecord;
  /** Of thousands of readings each; then others have their turn. */
  readonly turn_batches_max?: number;
}

/**
 * Brings the data of one gateway to central, turn by turn: readings from the number on that central holds, then the health of devices. It
 * compares the days of new readings, once a week all days, and keeps the gateway's files. It does the same as an upload, asked for by central. Both
 * may run at once, because central's watermark decides which readings are new.
 */
export class Pull {
  readonly gateway: ListedGateway;
  readonly #options: PullOptions;
  #state: PullState;
  readonly #touched: TouchedDays;
  #held_note = 0;

  constructor(options: PullOptions) {
    this.gateway = options.gateway;
    this.#options = options;
    this.#state = stateIn(options.known);
    this.#touched = new TouchedDays(this.#state.verified_seq, days_max);
  }

  /**
   * Takes as much as goes into a turn. Resolves with whether more is waiting.
   *
   * @throws TryAgainLater where the next turn may go better by itself; OperatorError where somebody has to do something
   */
  async turn(stop: AbortSignal): Promise<{ readonly more: boolean }> {
    const { store, clock, log, allowances, counts, connect, turn_batches_max = 32 } = this.#options;
    const { home, place } = this.gateway;
    const client = connect(this.gateway, stop);
    const remarks = () => {
      const { differing_days, unmended_days } = this.#state;
      return { differing_days, unmended_days, pulled: this.#state };
    };
    const { title } = client;
    const target = new StoreTarget({ store, home, clock, allowances, counts, title, place, remarks });
    const filesDue = clock.now().unix_ms - this.#state.filed_ms >= day_ms;
    // Read before the readings: central then gets every reading before the cursors among these files.
    const files = filesDue ? await readFiles(client) : undefined;
    const { more, report, held_note, everyDay, compared } = await transfer({
      source: new GatewaySource(client),
      target,
      clock,
      log,
      gateway: title,
      earlier: (epoch) => this.#meet(epoch),
      touched: this.#touched,
      held_note: this.#held_note,
      remember: async ({ confirmed_seq: _, ...changed }) => {
        this.#state = { ...this.#state, ...changed };
      },
      batches_max: turn_batches_max,
      checkTime: () => client.checkTime(),
    });
    this.#held_note = held_note;
    if (!more) {
      const since = everyDay ? { differing_days: 0, unmended_days: 0 } : this.#state;
      const differing_days = Math.max(since.differing_days, compared.differing.size);
      const unmended_days = Math.max(since.unmended_days ?? 0, compared.unmended.size);
      this.#state = { ...this.#state, differing_days, unmended_days };
      if (files !== undefined) await this.#keepFiles(client, files);
    }
    await target.note({ ...report, condition: nothingNoted });
    return { more };
  }

  /** Has `lintel fleet` say why the gateway of this home cannot be read; of a home that was never heard there is nothing to say it of. */
  async noteFailure(failure: string): Promise<void> {
    const { store } = this.#options;
    const [known] = await store.gateways([this.gateway.home]);
    if (known !== undefined) await store.noteReport(...failureReport(known, failure));
  }

  /** Results of earlier turns, if they were with this store. */
  #meet(epoch: string): Earlier {
    if (this.#state.epoch !== epoch) {
      this.#state = { ...stateIn(undefined), epoch };
      this.#touched.forget();
    }
    const { verified_seq, verified_all_ms } = this.#state;
    // Central has confirmed at least the readings that were compared.
    return { confirmed_seq: verified_seq, verified_seq, verified_all_ms };
  }

  async #keepFiles(client: HttpClient, files: HomeFiles): Promise<void> {
    const { store, clock } = this.#options;
    try {
      await keepFiles(store, this.gateway.home, files);
    } catch (thrown) {
      throw thrown instanceof FilesFault ? client.unexpected(thrown.message) : thrown;
    }
    this.#state = { ...this.#state, filed_ms: clock.now().unix_ms };
  }
}

async function readFiles(client: HttpClient): Promise<HomeFiles> {
  const request = { method: "GET", path: "/backups", answer: decodingBounds.homeFiles } as const;
  const body = await client.askJson(request, BackupsBody);
  try {
    return filesInBody(body);
  } catch (thrown) {
    throw thrown instanceof FilesFault ? client.unexpected(thrown.message) : thrown;
  }
}

/** That are remembered; more than these are all. */
const days_max = 4_000;

/**
 * State of pulling a gateway. It is stored as `pulled` in central's report of the gateway. An upload replaces the
 * report, and the state is lost: then days are only compared once more.
 */
const PullState = Type.Object({
  /** The epoch that it is of; empty before the first. */
  epoch: Type.String(),
  /** Number up to which every reading was compared and found equal, or put right. */
  verified_seq: Type.Integer({ minimum: 0 }),
  /** When all days were last compared, and the files for a spare box last kept. */
  verified_all_ms: Type.Integer({ minimum: 0 }),
  filed_ms: Type.Integer({ minimum: 0 }),
  /** Days that differed since all were compared. */
  differing_days: Type.Integer({ minimum: 0 }),
  unmended_days: Type.Optional(Type.Integer({ minimum: 0 })),
});
type PullState = Readonly<Static<typeof PullState>>;

/** As it was left; from the beginning where nothing is known. */
export function stateIn(known: GatewayRecord | undefined): PullState {
  const kept = known?.report["pulled"];
  if (Value.Check(PullState, kept)) return kept;
  return { epoch: "", verified_seq: 0, verified_all_ms: 0, filed_ms: 0, differing_days: 0 };
}

/** The last report of a gateway with why it cannot be read now; when it was heard stays as it was. */
export function failureReport(known: GatewayRecord, failure: string): [ReportNote, Sender] {
  const { home, epoch, reported_ms, uploaded_ms, report } = known;
  return [
    {
      epoch,
      health: nothingNoted,
      report: { ...report, failure: failure.slice(0, failure_length_max) },
    },
    { home, at_ms: reported_ms ?? uploaded_ms ?? 0 },
  ];
}

const failure_length_max = 200;

/** A gateway as central asks it. `token` is a sync token that the gateway has made. */
export function gatewayClient(
  { home, url, place }: ListedGateway,
  options: Omit<ClientOptions, "url" | "interface" | "wording" | "bounds">,
): HttpClient {
  return new HttpClient({
    ...options,
    url,
    interface: syncPath,
    bounds: gatewayBounds,
    wording: {
      name: `the gateway of home ${home}`,
      kind: "a Lintel gateway",
      asker: "central",
      run: "pull",
      hastening: "is the line to it a slow one?",
      url_setting: `url (${place})`,
      certificate_setting: `in certificate = "…" (${place})`,
      url_example: "http://10.8.0.12:8080",
      token_remedy: `make one at the gateway with lintel token create central --scope sync --home ${home}, and write it into the token_file of ${place}`,
    },
  });
}

const gatewayBounds: ClientBounds = {
  // Others wait for their turn meanwhile.
  run_ms_max: hour_ms,
  // A gateway that does not answer is asked again later: other gateways have their turns until then.
  failures_max: 3,
  // A Pi that reads its card for a batch; one that is off is given up after these.
  answer_ms_max: 20_000,
};
