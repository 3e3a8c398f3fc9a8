import { expect, test } from "bun:test";
import {
  event,
  fillForWalk,
  walkedPath,
  walkLinks,
} from "../../../scripts/trial-programs/with-source/requests/paging-links.ts";
import { now_ms, serve } from "../../../testbed/serving.ts";

test("20,000 records are each walked once by Link, while others arrive now, late and in the very second walked", async () => {
  await using serving = await serve();
  const total = 20_000;
  const start_ms = now_ms - 20_000_000;
  await fillForWalk(serving.store, total, start_ms);
  let number = total;
  const walk = await walkLinks({
    first: `${serving.api.url}${walkedPath}?limit=170`,
    token: serving.tokens.read,
    total,
    pages_max: total,
    onPage: async (page, second) => {
      const anywhere_ms = start_ms + ((page * 7_919_000) % 14_000_000);
      const stamps_ms = [
        now_ms,
        anywhere_ms,
        second * 1000 + (page % 1000),
        second * 1000,
        second * 1000 + 999,
      ];
      await serving.store.append(stamps_ms.map((stamp_ms) => event(stamp_ms, number++)));
    },
  });
  expect(walk).toMatchObject({ missed: 0, repeated: 0, disordered: 0 });
  expect(walk.pages).toBeGreaterThan(total / 170);
});
