import { defaultAdmission } from "../../../../src/central/receiver/admission-queue.ts";
import type { Reading } from "../../../../src/domain/reading.ts";
import { batch_readings_max } from "../../../../src/store/batch.ts";
import { quantile, type Report } from "../../api/report.ts";
import { BareCopy } from "./bare-copy.ts";
import { CentralServer, encodedNext, seconds } from "./central-server.ts";
import { demoReadings, HomeData, sensorReadings } from "./home-data.ts";

/**
 * Rows a second that homes send to a `lintel central` on PostgreSQL, beside a bare COPY of the same rows on the same server: over one connection, and over as many as
 * central writes with. In turns, medians of some rounds; each figure of central is held to the faster COPY.
 */
export async function http(report: Report): Promise<void> {
  await compare("the demo's readings", demoReadings(batch_readings_max), report);
  await compare("events of sensors alone", sensorReadings(batch_readings_max), report);
}

async function compare(what: string, readings: readonly Reading[], report: Report): Promise<void> {
  await using bare = await BareCopy.open();
  await using central = await CentralServer.start({ kept: "postgres", homes: [lone, ...several] });
  const data = new HomeData(readings);
  const rates = { copy: [] as number[], copies: [] as number[], home: [] as number[], homes: [] as number[] };
  const rate = (took_s: number) => (batches * batch_readings_max) / took_s;
  for (let round = 0; round <= rounds; round += 1) {
    const copied = [bare_home, ...bare_homes].map(async (home) => {
      const count = home === bare_home ? batches : batches / several.length;
      const made = [];
      for (let number = 0; number < count; number += 1) made.push(await bare.ready(data.next(home)));
      return made;
    });
    const [alone = [], ...apart] = await Promise.all(copied);
    const one = encodedNext(data, lone, batches);
    const each = several.map((home) => ({ home, sent: encodedNext(data, home, batches / several.length) }));
    const send = async (home: number, sent: typeof one) => {
      for (const batch of sent) await central.send(home, batch);
    };
    const took = {
      copy: await seconds(() => bare.copy(alone)),
      home: await seconds(() => send(lone, one)),
      copies: await seconds(() => Promise.all(apart.map((ready) => bare.copy(ready)))),
      homes: await seconds(() => Promise.all(each.map(({ home, sent }) => send(home, sent)))),
    };
    // The first round makes items and plans.
    if (round === 0) continue;
    for (const way of ways) rates[way].push(rate(took[way]));
  }
  const median = (way: (typeof ways)[number]) => quantile(rates[way], 0.5);
  report.note(
    `${what}: ${batches} batches of ${batch_readings_max} in each of ${rounds} rounds, rows a second`,
  );
  for (const [way, name] of Object.entries(names) as [(typeof ways)[number], string][])
    report.note(`  ${name.padEnd(36)}${shown(median(way))}  (${rates[way].map(shown).join(", ")})`);
  const fastest = Math.max(median("copy"), median("copies"));
  report.beside(`${what}, rows a second of one home`, median("home"), {
    name: "one COPY",
    figure: median("copy"),
  });
  report.bar(`${what}, rows a second of ${several.length} homes, beside the faster COPY`, {
    value: median("homes") / fastest,
    least: 0.6,
    of: [shown(median("homes")), shown(fastest)],
  });
}

function shown(rate: number): string {
  return Math.round(rate).toLocaleString("en");
}

const ways = ["copy", "home", "copies", "homes"] as const;
const connections = defaultAdmission.under_way_max;
const names: Readonly<Record<(typeof ways)[number], string>> = {
  copy: "COPY over one connection",
  copies: `COPY over ${connections} connections`,
  home: "one home to central",
  homes: `${connections} homes to central at once`,
};
const rounds = 5;
const batches = 8;
const lone = 1;
const several = Array.from({ length: connections }, (_, place) => 11 + place);
const bare_home = 101;
const bare_homes = several.map((home) => home + 100);
