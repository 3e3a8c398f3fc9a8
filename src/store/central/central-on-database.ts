import { firstIndexFrom, seriesIn } from "../batch.ts";
import { healthWithoutErased } from "../erased-health.ts";
import { withoutErased } from "../erasure.ts";
import { type HeardDevice, heardFrom } from "../inventory/device-items.ts";
import { firmwareIn, itemHealth, unplacedReadings } from "../inventory/item-overviews.ts";
import { unkeptIn } from "../inventory/pausing.ts";
import { coverageIn } from "../series/coverage-reads.ts";
import { refuseMisfits } from "../series/series-rows.ts";
import { readsOf, type StoreParts, type StoreWriter, storeOn } from "../store-on-database.ts";
import { firstNewSeq, refuseForeign } from "./batch-acceptance.ts";
import type { CentralStore } from "./central-store.ts";
import { daysColumns, heldOfDay, refuseUnheld } from "./day-repair.ts";
import { backupsOf, dailyArrivalsOf, gatewayRecords, newlyCompared } from "./gateways.ts";
import { digests, history } from "./home-history.ts";
import { heardIn } from "./receiving.ts";
import { remoteAsked } from "./remote-asked.ts";
import { heldOf, sourceOf } from "./sources.ts";

/** The parts of a store of central. */
interface CentralParts extends StoreParts {
  readonly writer: CentralWriter;
}

/** The writer of a database in which transactions wait for each other makes beforehand, in short ones, what a long one would hold. */
export interface CentralWriter extends StoreWriter {
  /** Makes the items of devices of a home that have none. */
  prepareItems?(heard: readonly HeardDevice[], home: number): Promise<void>;
}

/** A store of central over a database, of either kind. */
export function centralStoreOn(parts: CentralParts): CentralStore {
  const { database, writer, homes, epoch } = parts;
  const { read, snapshot } = readsOf(database);
  const source = read(sourceOf);
  const unkept = read(unkeptIn);
  const compared = read(newlyCompared);
  return {
    ...storeOn(parts),
    receive: async (batch, sender) => {
      const known = await source(batch.epoch);
      const from_seq = firstNewSeq(batch, known, sender);
      // A batch that is held to its end costs the writer nothing.
      if (from_seq === undefined) return { held_seq: known?.held_seq ?? 0, taken: 0 };
      const { batch: kept } = withoutErased(batch, await unkept(sender.home));
      for (const [series, columns] of seriesIn(kept)) {
        refuseMisfits(series, columns, firstIndexFrom(columns.seq, from_seq));
      }
      await writer.prepareItems?.(heardFrom(kept, from_seq), sender.home);
      return writer.write("receive", batch, sender);
    },
    held: snapshot(heldOf),
    noteReport: async (report, sender) => {
      const known = await source(report.epoch);
      if (known !== undefined) refuseForeign(report.epoch, known, sender);
      const health = healthWithoutErased(report.health, await unkept(sender.home));
      const heard = heardIn(health, known?.held_note ?? 0);
      await writer.prepareItems?.([...heard.values()], sender.home);
      await writer.write("noteReport", report, sender);
    },
    digests: (request) => digests(database, homes, request),
    repairDay: async (request, batch, sender) => {
      const columns = daysColumns(request, batch);
      refuseUnheld(await source(request.epoch), columns, sender);
      refuseMisfits(request.series, columns, 0);
      return writer.write("repairDay", request, batch, sender);
    },
    readingsOfDay: snapshot((request, home) => heldOfDay(homes, request, home)),
    history: snapshot((request) => history(homes, epoch, request)),
    gateways: read(gatewayRecords),
    replaceAlerts: (home, alerts) => writer.write("replaceAlerts", home, alerts),
    unkeptIn: unkept,
    itemHealth: snapshot((of?: readonly number[]) => itemHealth(homes, of)),
    firmware: snapshot(firmwareIn),
    unplaced: snapshot(() => unplacedReadings(homes)),
    noteCompared: async (...given) => {
      // Nearly always all is equal, and was.
      if ((await compared(...given)).length > 0) await writer.write("noteCompared", ...given);
    },
    dailyArrivals: snapshot(dailyArrivalsOf),
    coverageIn: snapshot(coverageIn),
    setQuotas: (quotas) => writer.write("setQuotas", quotas),
    putBackup: (home, name, content) => writer.write("putBackup", home, name, content),
    backups: read(backupsOf),
    askRemote: (asked) => writer.write("askRemote", asked),
    noteRemote: (...given) => writer.write("noteRemote", ...given),
    remoteAsked: read(remoteAsked),
  };
}
