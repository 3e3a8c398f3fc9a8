import { type SeriesName, seriesNames, seriesOf, type Value } from "../../src/domain/series.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { decodeBlock, readingAt } from "../../src/store/series/block-codec.ts";
import { valueColumns } from "../../src/store/series/series-columns.ts";
import type { Ask, MadeCentral, MakeCentral } from "./central-sample.ts";

/** A store that has sealed all that it holds, or all before a moment, whenever something that was written to it resolves. */
export function sealing(make: MakeCentral, before_ms = Number.MAX_SAFE_INTEGER): MakeCentral {
  return async () => {
    const made = await make();
    const homes = new Set<number>();
    const seal = async () => {
      for (const home of homes) await made.store.compress(home, before_ms);
    };
    return { ...made, store: sealedAfterWrites(made.store, homes, seal), damage: damageSealed(made, seal) };
  };
}

function sealedAfterWrites(store: CentralStore, homes: Set<number>, seal: () => Promise<void>): CentralStore {
  return new Proxy(store, {
    get: (_, name) => {
      const value: unknown = Reflect.get(store, name, store);
      if (typeof value !== "function") return value;
      if (!writing.includes(String(name))) return value.bind(store);
      return async (...given: readonly unknown[]) => {
        for (const one of given) {
          const home = (one as { home?: unknown } | undefined)?.home;
          if (typeof home === "number") homes.add(home);
        }
        const done: unknown = await Reflect.apply(value, store, given);
        await seal();
        return done;
      };
    },
  });
}

const writing = ["receive", "noteReport", "repairDay", "importRecords", "erase", "takeErasures"];

function damageSealed(made: MadeCentral, seal: () => Promise<void>): MadeCentral["damage"] {
  return async (reading, how) => {
    await unseal(made.ask);
    await made.damage(reading, how);
    await seal();
  };
}

/** Makes rows of all sealed readings again. */
export async function unseal(ask: Ask): Promise<void> {
  for (const { stream, series, home, readings: bytes } of await ask("SELECT * FROM sealed_readings")) {
    const readings = decodeBlock(series as SeriesName, bytes as unknown as Uint8Array);
    const columns = ["stream", "stamp", "seq", ...valueColumns(series as SeriesName).map(({ name }) => name)];
    // Only PostgreSQL's rows tell their home, and on SQLite it is always 0.
    const [own, of] = home === 0 ? [[], []] : [["home"], [home as Value]];
    const names = [...columns, ...own].map((name) => `"${name}"`);
    for (let from = 0; from < readings.seq.length; from += rows_at_once) {
      const to = Math.min(from + rows_at_once, readings.seq.length);
      const rows = Array.from({ length: to - from }, (_, row) => {
        return [stream as Value, ...readingAt(readings, from + row), ...of];
      });
      const places = rows.map(
        (row, at) => `(${row.map((_, place) => `$${at * row.length + place + 1}`).join(", ")})`,
      );
      await ask(`INSERT INTO ${series} (${names.join(", ")}) VALUES ${places.join(", ")}`, rows.flat());
    }
  }
  await ask("DELETE FROM sealed_readings");
  await ask("UPDATE totals SET sealed_before = 0");
}

const rows_at_once = 100;

/** See `MadeCentral.damage`. */
export function damageBy(ask: Ask): MadeCentral["damage"] {
  return async ({ series, item, stamp_ms }, how) => {
    const field = Object.keys(seriesOf(series).fields)[0];
    const change = {
      value: `UPDATE ${series} SET "${field}" = "${field}" + 7`,
      stamp: `UPDATE ${series} SET stamp = stamp + 1`,
      day: `UPDATE ${series} SET stamp = stamp + 172800000`,
      gone: `DELETE FROM ${series}`,
    };
    await ask(`${change[how]} WHERE stream IN (SELECT key FROM streams WHERE item = $1) AND stamp = $2`, [
      item,
      stamp_ms,
    ]);
  };
}

/** Readings that are rows, and those that are sealed. */
export async function rowsAndSealed(ask: Ask): Promise<{ rows: number; sealed: number }> {
  let rows = 0;
  for (const series of seriesNames) rows += await countOf(ask, `SELECT count(*) AS count FROM ${series}`);
  const sealed = await countOf(ask, "SELECT coalesce(sum(count), 0) AS count FROM sealed_readings");
  return { rows, sealed };
}

async function countOf(ask: Ask, text: string): Promise<number> {
  const [row] = await ask(text);
  return Number(row?.["count"]);
}
