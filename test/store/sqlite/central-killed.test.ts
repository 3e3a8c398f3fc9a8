import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { OperatorError } from "../../../src/base/errors.ts";
import { below, seeded, temporaryDirectory } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";
import { databaseOf, openCentral } from "../../../testbed/sqlite/opening.ts";
import { events, eventsOf, numbers } from "../central-sample.ts";
import { mountSmall, mountsAllowed } from "./mount.ts";
import { night } from "./night.ts";
import { checkTotals } from "./totals.ts";

const atWork = join(import.meta.dir, "central-at-work.ts");

test("killed in the middle of batches, central has what it confirmed, each reading once, and goes on from there", async () => {
  using directory = temporaryDirectory();
  const random = seeded(17);
  const gateways = night();
  let kills = 0;
  for (let start = 0; start < 40; start += 1) {
    const { confirmed, done } = await work(directory.path, { seed: start, lines_max: 2 + below(random, 20) });
    using database = new Database(databaseOf(directory.path), { readonly: true });
    const held = new Map(
      database.query("SELECT home, held_seq FROM sources").values() as [home: number, held_seq: number][],
    );
    for (const [home, seq] of confirmed) expect(held.get(home) ?? 0).toBeGreaterThanOrEqual(seq);
    const counts = [
      "SELECT count(*) FROM wirelesssensor_events",
      "SELECT coalesce(sum(count), 0) FROM blocks",
    ];
    const [rows = 0, inBlocks = 0] = counts.map((text) => Number(database.query(text).values()[0]?.[0]));
    expect(rows + inBlocks).toBe([...held.values()].reduce((sum, seq) => sum + seq, 0));
    if (done) break;
    kills += 1;
  }
  expect(kills).toBeGreaterThan(3);
  checkTotals(directory.path);
  const store = await openCentral(directory.path);
  const hashes = (found: readonly { hash: string }[]) => found.map(({ hash }) => hash).sort();
  for (const gateway of gateways) {
    const span = { through_seq: gateway.last_seq, from_ms: 0, before_ms: Number.MAX_SAFE_INTEGER };
    const found = await store.digests({ epoch: gateway.epoch, ...span });
    expect(hashes(found)).toEqual(hashes(gateway.digests(span)));
  }
  await store.close();
});

test.skipIf(!mountsAllowed)(
  "a full disk refuses a batch whole, and the same one is taken when there is room",
  async () => {
    using mount = mountSmall({ bytes: 5_000_000 });
    const ballast = join(mount.path, "ballast");
    writeFileSync(ballast, new Uint8Array(2_900_000));
    const store = await openCentral(mount.path);
    const gateway = new SimulatedGateway(12, "one").add(...events(1, 60_000));
    let held_seq = 0;
    let fault: unknown;
    while (held_seq < gateway.last_seq && fault === undefined) {
      try {
        ({ held_seq } = await store.receive(gateway.batch(held_seq + 1, held_seq + 1_000), gateway.sender));
      } catch (thrown) {
        fault = thrown;
      }
    }
    expect(fault).toBeInstanceOf(OperatorError);
    expect(String(fault)).toContain("the disk is full");
    expect(await store.held([gateway.epoch])).toMatchObject([{ held_seq }]);
    expect((await store.overview()).items[0]?.series[0]?.count).toBe(held_seq);
    rmSync(ballast);
    const next = gateway.batch(held_seq + 1, held_seq + 1_000);
    expect(await store.receive(next, gateway.sender)).toEqual({ held_seq: held_seq + 1_000, taken: 1_000 });
    expect(await eventsOf(store, 1, held_seq + 990)).toEqual(numbers(10));
    await store.close();
    checkTotals(mount.path);
  },
);

/** Lets a central work until it has said so many lines, then kills it; answers what it had confirmed. */
async function work(
  directory: string,
  { seed, lines_max }: { seed: number; lines_max: number },
): Promise<{ confirmed: Map<number, number>; done: boolean }> {
  const child = Bun.spawn([process.execPath, atWork, directory, String(seed)], {
    stdout: "pipe",
    stderr: "inherit",
  });
  const confirmed = new Map<number, number>();
  let said = "";
  let done = false;
  let lines = 0;
  for await (const chunk of child.stdout) {
    said += new TextDecoder().decode(chunk);
    const whole = said.split("\n");
    said = whole.pop() ?? "";
    for (const line of whole) {
      const [home, seq] = line.split(" ").map(Number);
      if (line === "done") done = true;
      else if (home !== undefined && seq !== undefined) confirmed.set(home, seq);
    }
    lines += whole.length;
    if (lines >= lines_max && !done) break;
  }
  if (!done) child.kill("SIGKILL");
  await child.exited;
  return { confirmed, done };
}
