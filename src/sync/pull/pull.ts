import type { Clock } from "../../clock.ts";
import type { ListedGateway } from "../../config/gateway-list.ts";
import { decodingBounds } from "../../decoding-bounds.ts";
import { day_ms } from "../../durations.ts";
import type { HttpClient } from "../../http-client/http-client.ts";
import type { Log } from "../../log.ts";
import type { CentralStore, GatewayRecord } from "../../store/central-store.ts";
import { nothingNoted } from "../../store/device-health.ts";
import { FilesFault, filesInBody, type HomeFiles, keepFiles } from "../kept-files.ts";
import { BackupsBody } from "../protocol.ts";
import type { HomeAllowances } from "../receiver/home-allowances.ts";
import type { ReceivedCounts } from "../receiver/received-counts.ts";
import { GatewaySource } from "../transfer/gateway-source.ts";
import { StoreTarget } from "../transfer/store-target.ts";
import { TouchedDays } from "../transfer/touched-days.ts";
import { type Earlier, transfer } from "../transfer/transfer.ts";
import { failureReport, type PullState, stateIn } from "./pull-state.ts";

export interface PullOptions {
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
    const { store, clock, log, allowances, counts, connect } = this.#options;
    const { home, place } = this.gateway;
    const client = connect(this.gateway, stop);
    const remarks = () => ({ differing_days: this.#state.differing_days, pulled: this.#state });
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
      const differing = compared.differing.size;
      const differing_days = everyDay ? differing : Math.max(this.#state.differing_days, differing);
      this.#state = { ...this.#state, differing_days };
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

/** Of thousands of readings each: then others have their turn. */
const turn_batches_max = 32;
/** That are remembered; more than these are all. */
const days_max = 4_000;
