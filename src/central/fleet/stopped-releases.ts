import type { Clock } from "../../base/clock.ts";
import { type ReleaseRefusal, type StoppedRelease, stopped_max } from "../../domain/fleet-home.ts";
import type { CentralStore, GatewayRecord } from "../../store/central/central-store.ts";
import type { GatewayReport } from "../../transfer/protocol.ts";

/** A release that so many boxes went back from that no further box is to try it. */
export interface StoppedAt extends StoppedRelease {
  readonly homes: readonly number[];
  /** The reason of the first of these boxes. */
  readonly why: string;
}

/** The releases that are stopped by what gateways have reported, the one that most boxes went back from first. */
export function stoppedReleases(
  gateways: readonly { readonly home: number; readonly refusals: readonly ReleaseRefusal[] }[],
): StoppedAt[] {
  const back = gateways.flatMap(({ home, refusals }) =>
    refusals.flatMap(({ reason, version, sha256, message }) =>
      reason === "went_back" && version && sha256 ? [{ home, version, sha256, message }] : [],
    ),
  );
  return [...Map.groupBy(back, ({ sha256 }) => sha256).values()]
    .flatMap((ones) => {
      const [first] = ones;
      const homes = ones.map(({ home }) => home);
      if (first === undefined || homes.length < back_min) return [];
      const { version, sha256, message } = first;
      return [{ version, sha256, boxes: homes.length, homes, why: message }];
    })
    .toSorted((one, other) => other.boxes - one.boxes)
    .slice(0, stopped_max);
}

/** The same for the gateways that report, read once for all of a minute: until another box has gone back. */
export class StoppedReleases {
  readonly #store: Pick<CentralStore, "gateways">;
  readonly #clock: Clock;
  #kept: { readonly found: Promise<StoppedRelease[]>; readonly at_ms: number } | undefined;

  constructor(options: { store: Pick<CentralStore, "gateways">; clock: Clock }) {
    this.#store = options.store;
    this.#clock = options.clock;
  }

  /** The answer to a gateway whose report has just been kept; nothing to one that does not update itself. */
  async answerTo({ update }: Partial<GatewayReport>): Promise<{ stopped?: StoppedRelease[] }> {
    if (update === undefined) return {};
    const { monotonic_ms } = this.#clock.now();
    const wentBack = update.refusals.some(({ reason }) => reason === "went_back");
    if (this.#kept === undefined || wentBack || monotonic_ms - this.#kept.at_ms > kept_ms) {
      const found = this.#read();
      const kept = { found, at_ms: monotonic_ms };
      this.#kept = kept;
      found.catch(() => {
        if (this.#kept === kept) this.#kept = undefined;
      });
    }
    const stopped = await this.#kept.found;
    return stopped.length === 0 ? {} : { stopped };
  }

  async #read(): Promise<StoppedRelease[]> {
    const gateways = await this.#store.gateways();
    return stoppedReleases(gateways.map(({ home, report }) => ({ home, refusals: refusalsIn(report) }))).map(
      // A box learns nothing of other homes but how many there are.
      ({ version, sha256, boxes }) => ({ version, sha256, boxes }),
    );
  }
}

const refusalsIn = (report: GatewayRecord["report"]) =>
  (report as Partial<GatewayReport>).update?.refusals ?? [];

/** Boxes: one or two may have a fault of their own. */
const back_min = 3;
const kept_ms = 60_000;
