import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { below, seeded, temporaryDirectory } from "../../../testbed/sample.ts";
import { databaseOf, openBeside } from "../../../testbed/sqlite/opening.ts";
import { storedEvents } from "../../../testbed/sqlite/stored-readings.ts";

test("after kill -9 at any moment every acknowledged reading is on disk, once, in numbers without gaps", async () => {
  using directory = temporaryDirectory();
  const random = seeded(Number(process.env["LINTEL_TEST_SEED"] ?? 1));
  const acknowledged = new Set<number>();
  let first = 0;
  for (let life = 0; life < 12; life += 1) {
    const numbers = await acknowledgedUntilKilled(directory.path, first, below(random, 600));
    for (const number of numbers) acknowledged.add(number);
    const kept = await keptIn(directory.path);
    expect(new Set(kept.events).size).toBe(kept.events.length);
    expect(acknowledged.difference(new Set(kept.events))).toEqual(new Set());
    expect(kept.numbers).toEqual(kept.numbers.map((_, index) => index + 1));
    expect(kept.counted).toBe(kept.numbers.length);
    expect(kept.last_seq).toBe(kept.numbers.length);
    first += 100_000;
  }
  expect(acknowledged.size).toBeGreaterThan(500);
});

/** Runs a writer until it has acknowledged `count` readings or a little more, kills it, and answers all that it acknowledged. */
async function acknowledgedUntilKilled(directory: string, first: number, count: number): Promise<number[]> {
  const entry = join(import.meta.dir, "accepting-process.ts");
  const child = Bun.spawn([process.execPath, entry, directory, String(first)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of child.stdout) {
    text += decoder.decode(bytes, { stream: true });
    if (text.split("\n").length > count) child.kill("SIGKILL");
  }
  await child.exited;
  expect(child.signalCode).toBe("SIGKILL");
  return text.split("\n").slice(0, -1).map(Number);
}

/** The store as a command finds it, and the contents of the file. */
async function keptIn(directory: string) {
  const beside = await openBeside(directory);
  const { last_seq, items } = await beside.overview();
  await beside.close();
  using database = new Database(databaseOf(directory), { readonly: true });
  const rows = storedEvents(database, "wirelesssensor_events").sort((one, other) => one.seq - other.seq);
  return {
    last_seq,
    counted: items.reduce((sum, { series }) => sum + (series[0]?.count ?? 0), 0),
    numbers: rows.map(({ seq }) => seq),
    events: rows.map(({ event }) => event),
  };
}
