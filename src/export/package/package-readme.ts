import { type SeriesName, seriesOf } from "../../domain/series.ts";
import { placesList } from "../derived-tables.ts";
import type { Format } from "../table-file.ts";
import { missingnessList } from "../tables.ts";
import { measuresPage } from "./measures-page.ts";
import {
  type Contents,
  changing,
  citationOf,
  lasting,
  measured,
  measuresCitationOf,
  type WrittenTable,
} from "./package-contents.ts";

/** For whoever finds the directory: its purpose, how it is read, and a first plot. */
export function readme(contents: Contents): string {
  const { tables, format, others, origin, made_ms, version, identifiers } = contents;
  return `# Readings and records of homes

Written by \`${origin.command}\` of Lintel ${version} from ${origin.name} at ${new Date(made_ms).toISOString()}. ${identifiers === "full" ? "It names people: keep it as your study says." : "Names are left out, as `codebook.md` says; it is data of people all the same."}

- \`codebook.md\` says what every field means, and what to mind before anything is counted.
${contents.homesLeftOut === undefined ? "" : `- ${contents.homesLeftOut}\n`}${placesText(tables)}- \`missingness\` says for each item and day how long somebody was listening. Plot it beside the events: a day without events may be one without data.
${derivedText(tables)}- \`datapackage.json\` (Frictionless) and \`ro-crate-metadata.json\` (RO-Crate) say the same to programs, with a digest of each file.${inStandards(others)}

${citing(contents)}## Read it

\`datapackage.json\` tells the type of every column.

${reading[format]}
- Lintel's packages for R and Python read any format: \`read_package(".")\` has every table with the types that are told.

${firstPlot(contents)}`;
}

function placesText(tables: readonly WrittenTable[]): string {
  if (!tables.some(({ name }) => name === placesList)) return "";
  return "- `places` says where each sensor is: room, what it watches, and its metres along a line of curtain sensors.\n";
}

/** Points at the measures, for those who do not want to count readings; empty where there are none. */
function derivedText(tables: readonly WrittenTable[]): string {
  const derived = tables.filter(({ path }) => path.startsWith("derived/"));
  if (derived.length === 0) return "";
  return `- \`derived/\` has measures that are counted already, each by its rule: ${derived.map(({ path }) => `\`${path}\``).join(", ")}. \`${measuresPage}\` says what they are, how far they are off, and what nobody can know. Take doses, nights, visits of rooms and walking speed from there: an empty value is unknown, and never zero. A scale does not know who stands on it: take weights from \`${derived.find(({ path }) => path.includes("weight_daily"))?.path}\`, which leaves out strangers.
`;
}

/** How programs come to the types of columns. */
const reading: Readonly<Record<Format, string>> = {
  csv: `- DuckDB (\`FROM 'coverage.csv'\`) and R's \`readr::read_csv("coverage.csv")\` see the types by themselves. \`read.csv\` leaves times as text, which \`as.POSIXct(coverage$start, format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC")\` reads.
- pandas takes a time for text until it is told: \`pd.read_csv("coverage.csv", parse_dates=["start", "stop"])\`. Polars: \`pl.read_csv("coverage.csv", try_parse_dates=True)\`.
- \`--format parquet\` gives files that have their types themselves, for pandas, Polars, DuckDB and R's arrow.`,
  ndjson: `- DuckDB (\`FROM 'coverage.ndjson'\`) sees the types by itself, and takes times for such without a zone: they are UTC.
- pandas, Polars and R's jsonlite take a time for text until they are told: \`pd.to_datetime(coverage["start"])\`, \`as.POSIXct(coverage$start, format = "%Y-%m-%dT%H:%M:%OSZ", tz = "UTC")\`.
- \`--format parquet\` gives files that have their types themselves, for pandas, Polars, DuckDB and R's arrow.`,
  parquet: `- pandas (with pyarrow or fastparquet), Polars, DuckDB and R's arrow read every file with its types, without an argument: \`pd.read_parquet("coverage.parquet")\`.
- Whole numbers of which one may be missing are \`Int64\` in pandas. Days are \`datetime.date\` by pyarrow, and midnights by fastparquet.`,
};

/** How a paper names these readings, and how they are had again. */
function citing(contents: Contents): string {
  const citation = citationOf(contents);
  if (citation === undefined) return "";
  const names = (tables: readonly WrittenTable[]) => tables.map(({ path }) => `\`${path}\``).join(", ");
  const { tables, identifiers, key } = contents;
  const others = changing(tables).filter((table) => !measured(tables).includes(table));
  return `## Cite it

> ${citation}

The files of readings are had again, byte for byte, also years later and whatever has arrived since, or it is said which readings were erased: from the gateway or from central, in this folder, by

\`\`\`sh
lintel fetch --url https://central.example --token-file token --at . --output ../again
\`\`\`

${identifiers === "full" ? "" : `Whoever made this package can do that: it takes the key whose fingerprint is ${key}, by \`--key FILE\` and \`--recipient NAME\`. `}${checksum(lasting(tables))}${citingMeasures(contents)}The others say what is known on the day of the download, and are outside of the checksum: ${names(others)}.

`;
}

/** How a paper names the numbers of measures, which the readings alone do not give again. */
function citingMeasures(contents: Contents): string {
  const citation = measuresCitationOf(contents);
  if (citation === undefined) return "";
  return `A paper that has numbers of \`derived/\` names these too:

> ${citation}

They say what was known on the day of the download: coverage, rooms and notes may be corrected later. Keep this folder: \`--at\` takes them over from it. ${checksum(measured(contents.tables))}`;
}

/** How anybody has the checksum of a citation. */
function checksum(files: readonly WrittenTable[]): string {
  if (files.length === 0) return "";
  return `The checksum in the citation is that of

\`\`\`sh
LC_ALL=C sha256sum ${files.map(({ path }) => path).join(" ")} | sha256sum
\`\`\`

`;
}

/** Where the same readings stand in the words of a standard. */
function inStandards(others: Contents["others"]): string {
  const directories = new Set(others.map(({ path }) => path.slice(0, path.indexOf("/"))));
  return [...directories]
    .map(
      (name) =>
        `\n- \`${name}/\` has a part of it once more, in the words of a standard: its \`README.md\` says which.`,
    )
    .join("");
}

/** Lines that draw the readings of each item by day, as they stand; empty where there is no series. */
export function firstPlot({ tables, format }: Contents): string {
  const all = lasting(tables).map(({ name }) => name as SeriesName);
  const series = all.find((name) => name === "wirelesssensor_events") ?? all[0];
  if (series === undefined || !tables.some(({ name }) => name === missingnessList)) return "";
  const { r, python, sql } = readers[format];
  const { kind } = seriesOf(series);
  return `## The first plot

Readings of each item by day of its home, of the days of which at most an hour is missing. A day on which somebody listened and nothing came is a day with 0, and stays in: without such days every mean is too high. \`missingness\` has the counts: days of \`stamp\` would be those of UTC, which are not those of a home.${tables.some(({ name }) => name === placesList) ? " `places` says which item is where." : ""}

R (a script draws into \`Rplots.pdf\`):

\`\`\`r
missing <- ${r(missingnessList)}
known <- subset(missing, typename == "${kind}" & minutes - listened <= 60, select = c(itemname, day, readings))
if (nrow(known) > 0) boxplot(readings ~ itemname, known, las = 2, ylab = "readings a day")
\`\`\`

Python, with pandas and matplotlib (it draws into \`first-plot.png\`):

\`\`\`python
import pandas as pd
missing = ${python(missingnessList)}
known = missing[(missing["typename"] == "${kind}") & (missing["minutes"] - missing["listened"] <= 60)]
by_item = known.pivot(index="day", columns="itemname", values="readings")
if len(by_item) > 0: by_item.plot(ylabel="readings a day").figure.savefig("first-plot.png")
\`\`\`

DuckDB:

\`\`\`sql
SELECT itemname, day, readings FROM ${sql(missingnessList)}
WHERE typename = '${kind}' AND minutes - listened <= 60 ORDER BY ALL;
\`\`\`
`;
}

/** An expression in each language. */
interface InLanguages<Value> {
  readonly r: Value;
  readonly python: Value;
  readonly sql: Value;
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
