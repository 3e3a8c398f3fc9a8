import { query_max, type SqlAnswer, type SqlTable } from "../../../domain/sql-answer.ts";
import { column } from "../../../export/columns.ts";
import { csv } from "../../../export/text-formats.ts";
import { HttpError } from "../../server/http-errors.ts";
import { sent } from "../../server/responses.ts";
import { type Asked, type Show, type SqlSource, trailTo } from "../site.ts";

/** The tables that a query may name, and the answer to the one in the address. */
export interface SqlData {
  readonly query: string;
  readonly query_max: number;
  /** Why no query is answered here; null where they are. */
  readonly off: string | null;
  /** Null where nothing was asked. */
  readonly answer: SqlAnswer | null;
  readonly tables: readonly SqlTable[];
}

export const showSql: Show<SqlData> = async (asked) => {
  const { site, query: given, now_ms, locale } = asked;
  const query = given.get("q") ?? "";
  const off = site.sql === undefined ? noMirror : ((await site.sql.off()) ?? null);
  const isAsked = off === null && query.trim() !== "";
  const answer = isAsked ? await answerOf(asked, page_rows_max) : null;
  const data: SqlData = { query, query_max, off, answer, tables: site.sql?.tables ?? [] };
  return { title: "SQL", data: { ...data, now_ms, locale, trail: trailTo(site.role, undefined) } };
};

/** The answer to the query in the address as CSV. @throws HttpError where there is none */
export async function sqlCsv(asked: Asked): Promise<Response> {
  const answer = await answerOf(asked, file_rows_max);
  if ("fault" in answer)
    throw answer.busy
      ? new HttpError("budget_spent", { retry_s: 10 })
      : new HttpError("query_refused", { fault: answer.fault });
  if (answer.more) throw new HttpError("query_refused", { fault: `it has more than ${file_rows_max} rows` });
  const { head, encode, tail } = csv(
    answer.columns.map((name) => column(name, "text", "")),
    "iso",
  );
  const headers = {
    "Content-Type": "text/csv; charset=utf-8",
    "Content-Disposition": 'attachment; filename="answer.csv"',
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
  };
  return sent(Buffer.concat([head(), encode(answer.rows), tail()]), { headers });
}

function answerOf(asked: Asked, rows_max: number): Promise<SqlAnswer> {
  const { store, token, query, signal } = asked;
  const text = query.get("q") ?? "";
  return sourceOf(asked).ask({ query: text, token: token.id, store, rows_max, stop: signal });
}

/** @throws HttpError where central keeps no mirror */
function sourceOf({ site }: Asked): SqlSource {
  if (site.sql === undefined) throw new HttpError("path_unknown", {});
  return site.sql;
}

const noMirror = "This central keeps no mirror. To have one, start it as lintel central --mirror DIRECTORY.";
const page_rows_max = 200;
const file_rows_max = 100_000;
