import { batch_readings_max } from "../../../../src/store/batch.ts";
import { quantile, type Report } from "../../api/report.ts";
import { CentralServer, encodedNext, type Kept, keptIn, seconds } from "./central-server.ts";
import { demoReadings, HomeData } from "./home-data.ts";

/**
 * Rows a second of a backlog that central holds already, sent again by one home: with the header that says what is in a batch, which central answers without
 * reading it, and without, where it has to decode it first.
 */
export async function replay(report: Report): Promise<void> {
  for (const kept of ["sqlite", "postgres"] as const) await sendAgain(kept, report);
}

async function sendAgain(kept: Kept, report: Report): Promise<void> {
  await using central = await CentralServer.start({ kept, homes: [home] });
  const sent = encodedNext(new HomeData(demoReadings(batch_readings_max)), home, batches);
  for (const batch of sent) await central.send(home, batch);
  const again = (header: boolean) =>
    seconds(async () => {
      for (const { bytes, header: said } of sent) {
        const { taken } = await central.send(home, {
          bytes,
          ...(header && said !== undefined ? { header: said } : {}),
        });
        if (taken !== 0) throw new Error("central took what it holds");
      }
    });
  for (const [what, header] of Object.entries({ "by their headers": true, "by their bodies alone": false })) {
    const rates: number[] = [];
    for (let round = 0; round < rounds; round += 1)
      rates.push((batches * batch_readings_max) / (await again(header)));
    report.bar(`${keptIn[kept]}: million rows a second of batches that are held, ${what}`, {
      value: quantile(rates, 0.5) / 1_000_000,
      least: 1,
    });
  }
}

const home = 1;
const batches = 16;
const rounds = 7;
