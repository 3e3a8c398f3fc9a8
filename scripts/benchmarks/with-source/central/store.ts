import { batch_readings_max } from "../../../../src/store/batch.ts";
import { decodeBatch } from "../../../../src/transfer/batch-codec.ts";
import { postgresServer } from "../../../../testbed/postgres/server.ts";
import { quantile, type Report } from "../../api/report.ts";
import { BareCopy, type Ready } from "./bare-copy.ts";
import { type Encoded, encodedNext, openStore, seconds } from "./central-server.ts";
import { demoReadings, HomeData } from "./home-data.ts";

/** Rows a second that the store on PostgreSQL takes in by itself, decoding included, beside a bare COPY of the same: what `http` has is lost or won on the way. */
export async function store(report: Report): Promise<void> {
  await using bare = await BareCopy.open();
  await using database = await (await postgresServer()).database();
  const central = await openStore({ database: database.url });
  const data = new HomeData(demoReadings(batch_readings_max));
  const rates = { copy: [] as number[], one: [] as number[], two: [] as number[] };
  const receive = async (home: number, sent: readonly Encoded[]) => {
    for (const { bytes } of sent) await central.receive(decodeBatch(bytes), { home, at_ms: 1 });
  };
  for (let round = 0; round <= rounds; round += 1) {
    const ready: Ready[] = [];
    for (let number = 0; number < batches; number += 1) ready.push(await bare.ready(data.next(1)));
    const [one = [], left = [], right = []] = [2, 3, 4].map((home) => encodedNext(data, home, batches));
    const took = {
      copy: await seconds(() => bare.copy(ready)),
      one: await seconds(() => receive(2, one)),
      two: (await seconds(() => Promise.all([receive(3, left), receive(4, right)]))) / 2,
    };
    // The first round makes items and plans.
    if (round === 0) continue;
    for (const way of ["copy", "one", "two"] as const)
      rates[way].push((batches * batch_readings_max) / took[way]);
  }
  await central.close();
  const copy = quantile(rates.copy, 0.5);
  const tell = (what: string, rate: number) =>
    report.beside(`the store alone, rows a second of ${what}`, rate, { name: "one COPY", figure: copy });
  tell("one home", quantile(rates.one, 0.5));
  tell("two homes at once", quantile(rates.two, 0.5));
}

const rounds = 5;
const batches = 4;
