import { join } from "node:path";
import { oneHome } from "../../../../src/store/inventory/homes.ts";
import { BlockLists } from "../../../../src/store/series/block-lists.ts";
import { page } from "../../../../src/store/series/pages.ts";
import { openForReading } from "../../../../src/store/sqlite/connection.ts";
import { Runner } from "../../../../src/store/sqlite/sqlite-database.ts";
import { EncodedAnswer } from "../../../../src/web/api/encoded-answers.ts";
import type { Data } from "../../api/data.ts";

/**
 * Reads and encodes every page once, from a connection of the same settings on either side, one side after the
 * other for each page. The first pages only warm up.
 */
function coldPages(data: Data): Record<"store" | "rowid", number[]> {
  const store = openForReading(join(data.store, "lintel.db"));
  const rowid = openForReading(data.rowid);
  const runner = new Runner(store);
  const select = rowid.keep(
    "SELECT stamp, event FROM events WHERE item = ? AND stamp < ? ORDER BY stamp DESC LIMIT 1000",
  );
  type Asked = Data["pages"][number];
  const sides = {
    store: ({ item, before_s }: Asked) => {
      const request = { series: "wirelesssensor_events", item, before_ms: before_s * 1000 } as const;
      const { records } = runner.snapshot(
        page(oneHome, new BlockLists(), { ...request, skip: 0, limit: 1000, precision: "s" }),
      );
      return new EncodedAnswer({ body: records }).as(undefined).length;
    },
    rowid: ({ item, before_s }: Asked) => JSON.stringify(select.all(item, before_s)).length,
  };
  const spent: Record<keyof typeof sides, number[]> = { store: [], rowid: [] };
  for (const [index, asked] of data.pages.entries()) {
    const order = index % 2 === 0 ? (["store", "rowid"] as const) : (["rowid", "store"] as const);
    const lengths = order.map((side) => {
      const started = performance.now();
      const length = sides[side](asked);
      if (index >= data.pages.length / 10) spent[side].push(performance.now() - started);
      return length;
    });
    if (lengths[0] !== lengths[1]) throw new Error(`the sides differ: ${lengths.join(" and ")} bytes`);
  }
  store.close();
  rowid.close();
  return spent;
}

// A process of its own, which is given what make-data.ts said, and says how long each page took.
console.log(JSON.stringify(coldPages(JSON.parse(await Bun.stdin.text()))));
