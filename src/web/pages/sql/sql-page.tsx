import type { SqlAnswer, SqlTable } from "../../../domain/sql-answer.ts";
import { CommandText } from "../parts/command-text.tsx";
import { Frame } from "../parts/page-frame.tsx";
import { Table } from "../parts/table.tsx";
import type { FrameData } from "../site.ts";
import { numberText } from "../time-text.ts";
import type { SqlData } from "./sql-data.ts";

/** A box for a query, its answer, and the tables that it may name. */
export function SqlPage(data: SqlData & FrameData) {
  const { query, query_max, off, answer, tables } = data;
  return (
    <Frame {...data}>
      <h1>{sentence(data)}</h1>
      {off === null ? null : (
        <p>
          <CommandText>{off}</CommandText>
        </p>
      )}
      <div class="sql">
        <div>
          {off === null ? <Question query={query} longest={query_max} /> : null}
          {answer === null ? null : <Answer answer={answer} query={query} />}
        </div>
        {tables.length === 0 ? null : (
          <section aria-label="Tables">
            <h2>Tables</h2>
            {tables.map((table) => (
              <Columns key={table.name} table={table} />
            ))}
          </section>
        )}
      </div>
      <p class="quiet">
        You see the homes that your token sees, as the mirror has them since the last night. Times are UTC. A
        query may take 10 seconds. <a href="/docs/mirror.md">Help with the mirror</a>
      </p>
    </Frame>
  );
}

function sentence({ off, answer, locale }: SqlData & FrameData): string {
  if (off !== null) return "No query is answered here.";
  if (answer === null) return "Ask all homes that you may see.";
  if ("fault" in answer) return "There is no answer.";
  const { rows, more, took_ms } = answer;
  const count = more ? `More than ${numberText(rows.length, locale)}` : numberText(rows.length, locale);
  const seconds = numberText(Math.round(took_ms / 100) / 10, locale);
  return `${count} ${rows.length === 1 ? "row" : "rows"} in ${seconds} s`;
}

function Question({ query, longest }: { query: string; longest: number }) {
  return (
    <form method="get" action="/sql">
      <label>
        One SELECT, as DuckDB has it{" "}
        <textarea
          name="q"
          rows={8}
          maxLength={longest}
          spellcheck={false}
          autoCapitalize="off"
          value={query}
        />
      </label>
      <button type="submit">Answer</button>
    </form>
  );
}

function Answer({ answer, query }: { answer: SqlAnswer; query: string }) {
  if ("fault" in answer)
    return (
      <pre class="fault">
        <bdi>{answer.fault}</bdi>
      </pre>
    );
  const { columns, rows, more } = answer;
  return (
    <>
      <p>
        {more ? "Here are the first. " : ""}
        <a href={`/sql.csv?${new URLSearchParams({ q: query })}`} download="answer.csv">
          Download as CSV
        </a>
      </p>
      <Table name="Answer" head={columns}>
        {rows.map((row, place) => (
          <tr key={place}>
            {row.map((value, at) => (
              <td key={at}>{value === null ? <span class="quiet">null</span> : <bdi>{value}</bdi>}</td>
            ))}
          </tr>
        ))}
      </Table>
    </>
  );
}

function Columns({ table }: { table: SqlTable }) {
  const { name, title, columns, example } = table;
  return (
    <details>
      <summary>
        <code>{name}</code>
      </summary>
      <p>
        {title}. <a href={`/sql?${new URLSearchParams({ q: example })}`}>Show an example</a>
      </p>
      <dl>
        {columns.map((column) => (
          <div key={column.name}>
            <dt>
              <code>{column.name}</code>
            </dt>
            <dd>
              {column.meaning}
              {column.unit === "" ? "" : ` (${column.unit})`}
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
