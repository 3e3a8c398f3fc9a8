/**
 * Batches into central's store on PostgreSQL, beside a bare COPY of the same rows.
 *
 * The store's side decodes each batch and takes it in: items, numbers, counts, watermark, one transaction each. The other side copies
 * the same rows, made ready beforehand, into the same partitioned table with the same key, one transaction for each batch. Both in
 * turns, on one server, with full synchronisation.
 */
import type { Batch } from "../../src/batch.ts";
import { SystemClock } from "../../src/clock.ts";
import { lineLog } from "../../src/log.ts";
import { Connections } from "../../src/store/postgres/connection.ts";
import { copyIn } from "../../src/store/postgres/copy-in.ts";
import { migrate } from "../../src/store/postgres/migrations.ts";
import { openPostgresCentral } from "../../src/store/postgres/open.ts";
import { Partitions } from "../../src/store/postgres/partitions.ts";
import { byDevice, copyOf } from "../../src/store/postgres/series-rows.ts";
import { decodeBatch, encodeBatch } from "../../src/sync/batch-codec.ts";
import { postgresServer } from "../../test/store/postgres/server.ts";

const series = "wirelesssensor_events";
const batch_readings = 65_536;
const items = 20;
const clock = new SystemClock();
const log = lineLog({ write: () => {}, clock });

/** The batch of a home's readings from `from_seq` on: 20 sensors, mixed, about a second apart. */
function batchOf(home: number, from_seq: number): Batch {
  const seq: number[] = [];
  const device: number[] = [];
  const stamp_ms: number[] = [];
  const event: number[] = [];
  let state = home * 7 + from_seq;
  for (let index = 0; index < batch_readings; index += 1) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    seq.push(from_seq + index);
    device.push((state >>> 8) % items);
    stamp_ms.push(Date.UTC(2026, 0, 1) + (from_seq + index) * 1_000 + (state >>> 22));
    event.push(state >>> 31);
  }
  const kind = "wirelesssensors" as const;
  return {
    epoch: home.toString(16).padStart(32, "0"),
    first_seq: 1,
    from_seq,
    to_seq: from_seq + batch_readings - 1,
    missing: [],
    devices: Array.from({ length: items }, (_, number) => ({ kind, address: addressOf(home, number) })),
    series: { [series]: { seq, device, stamp_ms, clock: seq.map(() => 0), fields: [event] } },
  };
}

function addressOf(home: number, number: number): string {
  const digits = (home * 256 + number).toString(16).padStart(16, "0");
  return (digits.match(/../g) ?? []).join(":");
}

/** The rows of a batch as they will be stored, so that copying them is all that is left. */
function madeReady(batch: Batch): { statement: string; bytes: Buffer } {
  const columns = batch.series[series];
  if (columns === undefined) throw new Error("a batch without readings");
  const home = Number.parseInt(batch.epoch, 16);
  const { statement, chunks } = copyOf({
    series,
    home,
    columns,
    order: byDevice(columns.device, 0, items),
    item: Float64Array.from(columns.device, (place) => home * items + place),
    own: Float64Array.from(columns.seq, (seq) => home * 1e9 + seq),
  });
  return { statement, bytes: Buffer.concat([...chunks]) };
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = clock.now().monotonic_ms;
  await work();
  return (clock.now().monotonic_ms - started) / 1000;
}

async function measure(rounds: number): Promise<void> {
  const server = await postgresServer();
  await using bareDatabase = await server.database();
  await using database = await server.database();
  const bare = new Connections(bareDatabase.url);
  await migrate(bare, "bare");
  const partitions = new Partitions(bare);
  const store = await openPostgresCentral({ url: database.url, clock, log });
  const rates = { bare: [] as number[], one: [] as number[], two: [] as number[] };
  const at = new Map<number, number>();
  const next = (home: number) => {
    const batch = batchOf(home, at.get(home) ?? 1);
    at.set(home, batch.to_seq + 1);
    return batch;
  };
  const receive = async (home: number, batches: readonly Uint8Array[]) => {
    for (const bytes of batches) await store.receive(decodeBatch(bytes), { home, at_ms: 1 });
  };
  for (let round = 0; round <= rounds; round += 1) {
    const plain = [next(1), next(1), next(1), next(1)];
    for (const batch of plain) {
      await partitions.make(series, batch.series[series]?.stamp_ms ?? [], 0);
    }
    const ready = plain.map(madeReady);
    const encoded = (home: number, count: number) =>
      Array.from({ length: count }, () => encodeBatch(next(home)) ?? new Uint8Array());
    const [one, left, right] = [encoded(2, 4), encoded(3, 4), encoded(4, 4)];
    const bare_s = await seconds(async () => {
      for (const { statement, bytes } of ready) await bare.write((sql) => copyIn(sql, statement, [bytes]));
    });
    const one_s = await seconds(() => receive(2, one));
    const two_s = await seconds(() => Promise.all([receive(3, left), receive(4, right)]));
    // The first round makes partitions, items and plans.
    if (round === 0) continue;
    rates.bare.push((4 * batch_readings) / bare_s);
    rates.one.push((4 * batch_readings) / one_s);
    rates.two.push((8 * batch_readings) / two_s);
  }
  const held = batchOf(2, 1);
  const replays = 200;
  const replay_s = await seconds(async () => {
    for (let count = 0; count < replays; count += 1) await store.receive(held, { home: 2, at_ms: 1 });
  });
  const bare_rate = median(rates.bare);
  print("bare COPY", bare_rate, bare_rate);
  print("decode and receive, one home", median(rates.one), bare_rate);
  print("decode and receive, two homes at once", median(rates.two), bare_rate);
  print("receive of what is held", (replays * batch_readings) / replay_s, bare_rate);
  await store.close();
  await bare.close();
}

function median(values: number[]): number {
  return values.sort((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

function print(name: string, rate: number, against: number): void {
  console.log(
    `${name.padEnd(40)}${Math.round(rate).toLocaleString("en").padStart(14)} rows/s ${(rate / against).toFixed(2).padStart(8)}`,
  );
}

if (process.argv.includes("--help")) {
  console.log("usage: ./scripts/bench central-postgres [ROUNDS]   (default 5)");
} else await measure(Number(process.argv[2] ?? 5));
