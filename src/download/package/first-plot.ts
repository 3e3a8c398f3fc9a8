import { type SeriesName, seriesOf } from "../../series.ts";
import type { Format } from "../format.ts";
import type { StampForm } from "../stamp-form.ts";
import { missingnessList } from "../tables.ts";
import { lasting } from "./reproducible.ts";
import type { Contents } from "./written.ts";

/** Lines that count and draw the readings of a series by item and day, as they stand; empty where there is no series. */
export function firstPlot(contents: Contents): string {
  const { tables, format, timezone, stamp } = contents;
  const all = lasting(tables).map(({ name }) => name as SeriesName);
  const series = all.find((name) => name === "wirelesssensor_events") ?? all[0];
  if (series === undefined || !tables.some(({ name }) => name === missingnessList)) return "";
  const { r, python, sql } = readers[format];
  const day =
    timezone === "home"
      ? { r: "readings$localday", python: 'readings["localday"]', sql: "localday" }
      : daysOf(format, stamp);
  return `## The first plot

${seriesOf(series).title} of each item by day, of the days of which at most an hour is missing.

R (a script draws into \`Rplots.pdf\`):

\`\`\`r
readings <- ${r(series)}
missing <- ${r(missingnessList)}
readings$day <- as.Date(${day.r})
counts <- setNames(aggregate(itemid ~ itemname + day, readings, length), c("itemname", "day", "readings"))
known <- subset(missing, minutes - listened <= 60, select = c(itemname, day, listened))
merged <- merge(counts, transform(known, day = as.Date(day)), by = c("itemname", "day"))
if (nrow(merged) > 0) boxplot(readings ~ itemname, merged, las = 2, ylab = "readings a day")
\`\`\`

Python, with pandas and matplotlib (it draws into \`first-plot.png\`):

\`\`\`python
import pandas as pd
readings = ${python(series)}
missing = ${python(missingnessList)}
readings["day"] = pd.to_datetime(${day.python}).dt.date
missing["day"] = pd.to_datetime(missing["day"]).dt.date
counts = readings.groupby(["itemname", "day"]).size().rename("readings").reset_index()
known = missing.loc[missing["minutes"] - missing["listened"] <= 60, ["itemname", "day", "listened"]]
merged = counts.merge(known, on=["itemname", "day"]).pivot(index="day", columns="itemname", values="readings")
if len(merged) > 0: merged.plot(ylabel="readings a day").figure.savefig("first-plot.png")
\`\`\`

DuckDB:

\`\`\`sql
SELECT itemname, ${day.sql} AS day, count(*) AS readings FROM ${sql(series)} GROUP BY ALL ORDER BY ALL;
\`\`\`

Days are those of ${timezone === "home" ? "each home's time zone, as in `missingness`" : "UTC in these lines; `missingness` has those of each home's time zone, which it names"}.
`;
}

/** An expression in each language. */
interface InLanguages<Value> {
  readonly r: Value;
  readonly python: Value;
  readonly sql: Value;
}

/** The day in UTC of \`stamp\`, which pandas and R are to make a day of. */
function daysOf(format: Format, stamp: StampForm): InLanguages<string> {
  const [r, python] = ["readings$stamp", 'readings["stamp"]'];
  // DuckDB has a moment of Parquet and CSV as one in the zone of the machine, and one of JSON without a zone.
  if (format === "parquet") return { r, python, sql: "(stamp AT TIME ZONE 'UTC')::DATE" };
  if (stamp === "iso")
    return { r, python, sql: format === "csv" ? "(stamp AT TIME ZONE 'UTC')::DATE" : "stamp::DATE" };
  const [unit, parts, micros] =
    stamp === "unix" ? (["s", "", 1_000_000] as const) : (["ms", " / 1000", 1_000] as const);
  return {
    r: `as.POSIXct(${r}${parts}, origin = "1970-01-01", tz = "UTC")`,
    python: `${python}, unit="${unit}"`,
    sql: `make_timestamp(stamp * ${micros})::DATE`,
  };
}

/** How a table is read. */
const readers: Readonly<Record<Format, InLanguages<(table: string) => string>>> = {
  csv: {
    r: (table) => `read.csv("${table}.csv")`,
    python: (table) => `pd.read_csv("${table}.csv")`,
    sql: (table) => `'${table}.csv'`,
  },
  ndjson: {
    r: (table) => `jsonlite::stream_in(file("${table}.ndjson"), verbose = FALSE)`,
    python: (table) => `pd.read_json("${table}.ndjson", lines=True)`,
    sql: (table) => `'${table}.ndjson'`,
  },
  parquet: {
    r: (table) => `as.data.frame(arrow::read_parquet("${table}.parquet"))`,
    python: (table) => `pd.read_parquet("${table}.parquet")`,
    sql: (table) => `'${table}.parquet'`,
  },
};
