import { type Clock, clockQuality, repeat } from "../../base/clock.ts";
import { messageOf } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { signedJson, signerOf } from "../../base/signed-json.ts";
import { hour_ms, localDays, timeOfDate_ms } from "../../base/time.ts";
import {
  type Acceptance,
  type AcceptanceFault,
  type AcceptanceTask,
  type AcceptedDevice,
  acceptanceTasks,
  type FirstNight,
  type KeptAcceptance,
  taskDone_ms,
} from "../../domain/acceptance.ts";
import { faultIf } from "../../domain/acceptance-faults.ts";
import type { Kind } from "../../domain/kinds.ts";
import type { Store } from "../../store/store.ts";
import { boxKey } from "../box-key.ts";
import { acceptancesIn, changeAcceptances, type RecordsPlace } from "./acceptances.ts";
import { taskReadings } from "./findings.ts";

/** Figures of a gateway since its start, which nothing keeps. */
export interface NightFigures {
  /** Messages that were on disk later than two seconds after they came. */
  readonly late: number;
  /** Milliseconds within which the card took 99 of 100 writes; undefined before the first. */
  readonly commit_ms: number | undefined;
  readonly clock_error_ms: number | undefined;
}

interface FirstNightParts extends RecordsPlace {
  readonly store: Pick<Store, "item" | "coverage" | "oldestFirst">;
  readonly clock: Clock;
  readonly log: Log;
  readonly figures: () => NightFigures;
  /** Uploads, so that central knows of it in the morning; absent: everything stays in this box. */
  readonly upload?: () => Promise<unknown>;
}

/** Adds the first night to the newest acceptance, on the next morning at seven. */
export class FirstNights {
  readonly #parts: FirstNightParts;
  readonly #end: () => void;
  /** Late messages of this process before the newest acceptance, by its number. */
  #before: { readonly number: number; readonly late: number } | undefined;

  constructor(parts: FirstNightParts) {
    this.#parts = parts;
    this.#end = repeat(parts.clock, look_ms, () =>
      this.look().catch((thrown: unknown) =>
        parts.log.warn(`no first night was added: ${messageOf(thrown)}`),
      ),
    );
  }

  stop(): void {
    this.#end();
  }

  /** Looks whether a first night is over; answers what was found of it. */
  async look(): Promise<FirstNight | undefined> {
    const { directory, clock, figures, upload, log } = this.#parts;
    const [newest] = acceptancesIn(directory);
    if (newest === undefined || newest.nights.length > 0) return undefined;
    const { number, finished, timezone } = newest.signed;
    // Another box made it, and this one took its place.
    const key = boxKey(directory);
    if (newest.key !== signerOf(key)) return undefined;
    if (this.#before?.number !== number) this.#before = { number, late: figures().late };
    const { unix_ms, quality } = clock.now();
    const due_ms = nextMorning_ms(timezone, finished * 1_000);
    if (quality !== clockQuality.synchronised || unix_ms < due_ms) return undefined;
    const signed = await this.#found(newest, due_ms);
    const nights = [signedJson(signed, key)];
    changeAcceptances(this.#parts, (kept) =>
      kept.map((one) => (one.signature === newest.signature ? { ...one, nights } : one)),
    );
    await upload?.().catch((thrown: unknown) =>
      log.info(`central gets the first night later: ${messageOf(thrown)}`),
    );
    return signed;
  }

  async #found({ signed, signature }: KeptAcceptance, until_ms: number): Promise<FirstNight> {
    const { figures } = this.#parts;
    const { late, commit_ms, clock_error_ms } = figures();
    const span = { from_ms: signed.finished * 1_000, before_ms: until_ms };
    const live = signed.devices.filter((one) => !one.later);
    const coverage: FirstNight["coverage"] = [];
    for (const device of live)
      coverage.push({ itemname: device.itemname, covered: await this.#covered(device, span) });
    const found = {
      coverage,
      lateframes: Math.max(0, late - (this.#before?.late ?? 0)),
      clockoffset: clock_error_ms === undefined ? null : Math.round(clock_error_ms),
      commit: commit_ms ?? null,
    };
    const faults = [...nightFaults(found), ...(await this.#untold(signed, until_ms))];
    return {
      ...{ format: "lintel first night 1", number: signed.number, acceptance: signature },
      ...{
        since: signed.finished,
        until: Math.floor(until_ms / 1_000),
        ...found,
        good: faults.length === 0,
        faults,
      },
    };
  }

  /** The share of the time of a night that is known, in which a device was covered. */
  async #covered(
    { typename, itemname }: AcceptedDevice,
    span: { readonly from_ms: number; readonly before_ms: number },
  ): Promise<number> {
    const { store } = this.#parts;
    const item = await store.item(typename as Kind, itemname);
    if (item === undefined) return 0;
    const found = await store.coverage({ item: item.key, ...span, skip: 0, limit: intervals_max });
    const lengths = found.map(({ start_ms, stop_ms, state }) => ({
      state,
      ms: Math.max(0, Math.min(stop_ms, span.before_ms) - Math.max(start_ms, span.from_ms)),
    }));
    const known_ms = lengths.reduce((sum, { ms }) => sum + ms, 0);
    const covered_ms = lengths.reduce((sum, { ms, state }) => sum + (state === "covered" ? ms : 0), 0);
    return known_ms === 0 ? 0 : Math.round((covered_ms / known_ms) * 1_000) / 1_000;
  }

  /** Devices that tell later, and have not told of their task by now. */
  async #untold({ devices }: Acceptance, now_ms: number): Promise<AcceptanceFault[]> {
    const faults: AcceptanceFault[] = [];
    for (const { later, asked, done, task, typename, itemname } of devices) {
      if (!later || asked === null || done !== null) continue;
      const name = task as AcceptanceTask;
      const readings = await taskReadings(this.#parts.store, {
        ...{ kind: typename as Kind, itemname, task: name, from_ms: asked * 1_000, before_ms: now_ms },
      });
      if (taskDone_ms(name, readings) === undefined)
        faults.push({
          what: `${itemname} has told of no task since: not ${acceptanceTasks[name].lacks}.`,
          remedy: "See that it is in reach of the box, and try it again.",
        });
    }
    return faults;
  }
}

/** Faults of a night by its figures. */
function nightFaults(
  found: Pick<FirstNight, "coverage" | "lateframes" | "clockoffset" | "commit">,
): AcceptanceFault[] {
  const { coverage, lateframes, clockoffset, commit } = found;
  return [
    ...coverage.flatMap(({ itemname, covered }) =>
      faultIf(
        covered < covered_min,
        `${itemname} was covered for ${Math.floor(covered * 100)} % of the first night.`,
        "Bring it, or the stick, nearer, and look at lintel mesh.",
      ),
    ),
    ...faultIf(
      lateframes > late_max,
      `${lateframes} messages came late to the disk in the first night.`,
      "Run lintel doctor: the box is too busy, or its card too slow.",
    ),
    ...faultIf(
      (clockoffset ?? 0) > clock_error_max_ms,
      `The clock may be off by ${Math.round((clockoffset ?? 0) / 1_000)} s.`,
      "Let the network answer time requests (UDP port 123).",
    ),
    ...faultIf(
      (commit ?? 0) > commit_max_ms,
      `The card took up to ${commit} ms for a write.`,
      "Put in another card, of a make that is sold as industrial or high endurance.",
    ),
  ];
}

/** Seven in the morning by the clocks of a zone, at least five hours after a time. */
export function nextMorning_ms(zone: string, after_ms: number): number {
  const days = localDays(zone, { from_ms: after_ms, to_ms: after_ms + 48 * hour_ms });
  const mornings = days.map(({ date }) => timeOfDate_ms(zone, date, 7 * 60));
  return mornings.find((at_ms) => at_ms >= after_ms + 5 * hour_ms) ?? after_ms + 24 * hour_ms;
}

const look_ms = hour_ms / 2;
const intervals_max = 1_000;
const covered_min = 0.9;
const late_max = 10;
const clock_error_max_ms = 2_000;
const commit_max_ms = 1_000;
