import { statSync } from "node:fs";
import { join } from "node:path";
import type { Batch } from "../../../../src/store/batch.ts";
import { nothingNoted } from "../../../../src/store/exchange.ts";
import { type ReportBody, syncPath } from "../../../../src/transfer/protocol.ts";
import { postgresServer } from "../../../../testbed/postgres/server.ts";
import { wellReport } from "../../../../testbed/simulated-gateway.ts";
import { CentralServer, encoded, type Kept } from "../central/central-server.ts";

/**
 * Bytes of a central's database whose homes have uploaded night by night, as gateways do: readings, and a report, after which central seals what is some days old of the homes whose turn it is.
 * PostgreSQL is vacuumed after each night, as autovacuum would by the next.
 */
export async function sealedBytes(
  kept: Kept,
  uploads: ReadonlyMap<number, readonly Batch[]>,
): Promise<number> {
  await using central = await CentralServer.start({ kept, homes: [...uploads.keys()] });
  const { place } = central;
  const bytes = async () => {
    if ("directory" in place) return statSync(join(place.directory, "lintel.db")).size;
    const name = new URL(place.database).pathname.slice(1);
    await (await postgresServer()).run("VACUUM (ANALYZE)", name);
    const [row] = await (await postgresServer()).run(`SELECT pg_database_size('${name}') AS bytes`);
    return Number(row?.["bytes"]);
  };
  const empty_bytes = await bytes();
  for (const night of (uploads.values().next().value ?? []).keys()) {
    for (const [home, batches] of uploads) {
      const batch = batches[night] as Batch;
      await central.send(home, encoded(batch));
      const { epoch, to_seq: last_seq } = batch;
      await report(central, home, {
        epochs: [{ epoch, first_seq: 1, last_seq }],
        condition: nothingNoted,
        report: wellReport({ now_ms: Date.now(), last_seq }),
      });
    }
    if (kept === "postgres") await bytes();
  }
  // The log of a SQLite database is put into it at the end.
  await central.stop();
  return (await bytes()) - (kept === "postgres" ? empty_bytes : 0);
}

async function report(central: CentralServer, home: number, body: ReportBody): Promise<void> {
  const response = await fetch(`${central.origin}${syncPath}/report`, {
    method: "POST",
    headers: { authorization: `bearer ${central.tokens.get(home)}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`a report is answered with ${response.status}: ${await response.text()}`);
}
