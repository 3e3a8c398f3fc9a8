import { expect, test } from "bun:test";
import { gatewayOf, receive } from "./receiving.ts";

test("200 homes that post at once are each taken exactly once", async () => {
  await using receiving = await receive();
  const homes = Array.from({ length: 200 }, (_, index) => 1_000 + index);
  for (const home of homes) await receiving.homeToken(home);
  const answers = await Promise.all(
    homes.map(async (home) => (await receiving.send(home, gatewayOf(home, 50).all())).json()),
  );
  expect(answers).toEqual(homes.map(() => ({ held_seq: 50, taken: 50 })));
  const { items } = await receiving.store.overview();
  const counts = items
    .filter(({ record }) => homes.includes(record.currenthomeid ?? 0))
    .map(({ series }) => series[0]?.count);
  expect(counts).toEqual(homes.map(() => 50));
});

test("a central that is full tells homes when to come back, before their bodies are read, and takes them all", async () => {
  await using full = await receive({ admission: { under_way_max: 1, tickets_max: 8 } });
  const homes = Array.from({ length: 24 }, (_, index) => 1 + index);
  for (const home of homes) await full.homeToken(home);
  let later = 0;
  await Promise.all(
    homes.map(async (home) => {
      for (let attempt = 1; attempt < 20; attempt += 1) {
        const answer = await full.send(home, gatewayOf(home, 2_000).all());
        if (answer.status === 200) return;
        later += 1;
        const { code } = (await answer.json()) as { code: number };
        expect([answer.status, code]).toEqual([429, 42902]);
        // As long as it takes central to work on what waits: a second, or more on a busy machine.
        const wait_s = Number(answer.headers.get("Retry-After"));
        expect(wait_s).toBeWithin(1, 61);
        await Bun.sleep(wait_s * 1_000);
      }
      throw new Error(`home ${home} has starved`);
    }),
  );
  expect(later).toBeGreaterThan(0);
  const { items } = await full.store.overview();
  expect(items.map(({ series }) => series[0]?.count)).toEqual(homes.map(() => 2_000));
}, 120_000);
