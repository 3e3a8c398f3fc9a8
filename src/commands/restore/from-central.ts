import { existsSync } from "node:fs";
import { databasePath } from "../../store/sqlite/connection.ts";
import { isWhole } from "../../store/sqlite/file-check.ts";
import { type RestoredHome, restoreHome } from "../../uploader/home-restore.ts";
import { connect, type UploadSite } from "../../uploader/uploader.ts";
import { momentText } from "../spans.ts";
import { siteOf } from "../upload-site.ts";
import { erasedBefore } from "./erased-before.ts";
import { fillDirectory } from "./placement.ts";
import type { RestoreContext, Restored } from "./run.ts";
import { sendFromRemains } from "./salvaged.ts";

/**
 * Fills the data directory with the records, readings and files that central has of this home. Of a damaged database that is replaced,
 * central is first sent the readings that it has not got.
 *
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function restoreFromCentral(run: RestoreContext): Promise<Restored> {
  const { options } = run;
  const { days } = options;
  const site = siteOf(options);
  const filled = await fillDirectory({
    directory: site.data,
    replace: options.replace === true,
    build: async (building) => {
      const damaged = databasePath(site.data);
      const remains = existsSync(damaged) && !isWhole(damaged);
      const sent = remains ? await sendFromRemains(damaged, building, site, run) : undefined;
      return { ...(await build(building, site, run)), sent_from_remains: sent?.sent, lost: sent?.lost };
    },
  });
  if (filled === undefined) throw new Error("a restore from central has always something to do");
  const { built, aside } = filled;
  const { network } = built;
  const failed = network
    ? []
    : ["central has no copy of a Zigbee network: if this home has one, its sensors must be paired again"];
  const said = linesOf(built, site.data, days);
  return { directory: site.data, aside, figures: { ...built, days }, said, failed };
}

async function build(directory: string, site: UploadSite, run: RestoreContext): Promise<RestoredHome> {
  const { options, log, context } = run;
  const { clock, terminal } = context;
  return await restoreHome({
    ...{ directory, clock, log, days: options.days },
    central: connect(site, { ...run, clock }),
    erasures: await erasedBefore(site.data, log),
    onBatch: (batch, restored) => {
      const newest = Object.values(batch.series).map(({ stamp_ms }) => stamp_ms.at(-1) ?? 0);
      terminal.progress(
        `${restored.toLocaleString("en")} readings, up to ${momentText(Math.max(0, ...newest))}`,
      );
    },
  });
}

function linesOf(
  {
    readings,
    records,
    sent_from_remains: sent,
    lost,
  }: RestoredHome & { sent_from_remains?: number; lost?: number },
  directory: string,
  days: number,
): string[] {
  const held = `${directory} holds ${readings.toLocaleString("en")} readings of ${days} days and ${records} records that central had of this home.`;
  if (sent === undefined) return [held];
  return [
    held,
    `Of the damaged database ${sent.toLocaleString("en")} readings that central had not got were sent; ${lost?.toLocaleString("en")} are lost.`,
  ];
}
