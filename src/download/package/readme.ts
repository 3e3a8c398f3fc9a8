import type { Format } from "../format.ts";
import { changing, citationOf, lasting } from "./reproducible.ts";
import type { Contents, WrittenTable } from "./written.ts";

/** For whoever finds the directory: its purpose, and a first plot. */
export function readme(contents: Contents): string {
  const { others, format, timezone, origin, made_ms, version, key } = contents;
  const { r, python, duckdb } = readers[format];
  const [column, day, whose] =
    timezone === "home"
      ? ["localday", "localday", "each home's time zone, as in `missingness`"]
      : [
          "stamp",
          "stamp::DATE",
          "UTC in these lines; `missingness` has those of each home's time zone, which it names",
        ];
  return `# Readings and records of homes

Written by \`${origin.command}\` of Lintel ${version} from ${origin.name} at ${new Date(made_ms).toISOString()}. ${key === undefined ? "It names people: keep it as your study says." : "Identifiers are left out, as `codebook.md` says; it is data of people all the same."}

- \`codebook.md\` says what every field means, and what to mind before anything is counted.
- \`missingness\` says for each item and day how long somebody was listening. Plot it beside the events: a day without events may be one without data.
- \`datapackage.json\` (Frictionless) and \`ro-crate-metadata.json\` (RO-Crate) say the same to programs, with a digest of each file.${inStandards(others)}

${citing(contents)}## The first plot

Events of each sensor by day, and the days of which more than an hour is missing.

R:

\`\`\`r
events <- ${r("wirelesssensor_events")}
missing <- ${r("missingness")}
events$day <- as.Date(events$${column})
counts <- aggregate(event ~ itemname + day, events, length)
known <- subset(missing, minutes - listened < 60)
merged <- merge(counts, transform(known, day = as.Date(day)), by = c("itemname", "day"))
boxplot(event ~ itemname, merged, las = 2, ylab = "events a day")
\`\`\`

Python:

\`\`\`python
import pandas as pd
events = ${python("wirelesssensor_events")}
missing = ${python("missingness")}
events["day"] = pd.to_datetime(events["${column}"]).dt.date
missing["day"] = pd.to_datetime(missing["day"]).dt.date
counts = events.groupby(["itemname", "day"]).size().rename("events").reset_index()
known = missing[missing["minutes"] - missing["listened"] < 60]
counts.merge(known, on=["itemname", "day"]).pivot(index="day", columns="itemname", values="events").plot()
\`\`\`

DuckDB:

\`\`\`sql
SELECT itemname, ${day} AS day, count(*) AS events FROM ${duckdb("wirelesssensor_events")} GROUP BY ALL ORDER BY ALL;
\`\`\`

Days are those of ${whose}.
`;
}

/** How a paper names these readings, and how they are had again. */
function citing(contents: Contents): string {
  const citation = citationOf(contents);
  if (citation === undefined) return "";
  const names = (tables: readonly WrittenTable[]) => tables.map(({ path }) => `\`${path}\``).join(", ");
  return `## Cite it

> ${citation}

\`lintel fetch --at FOLDER\`, with this folder and the address of the gateway or of central, gives these files again, byte for byte, also years later and whatever has arrived since, or says which
readings were erased: ${names(lasting(contents.tables))}. The checksum is theirs: \`LC_ALL=C sha256sum FILE … | sha256sum\`, the files in order of their names.

The others say what is known on the day of the download, and are outside of the checksum: ${names(changing(contents.tables))}.

`;
}

type Reader = (table: string) => string;

const readers: Readonly<
  Record<Format, { readonly r: Reader; readonly python: Reader; readonly duckdb: Reader }>
> = {
  csv: {
    r: (table) => `read.csv("${table}.csv")`,
    python: (table) => `pd.read_csv("${table}.csv")`,
    duckdb: (table) => `'${table}.csv'`,
  },
  ndjson: {
    r: (table) => `jsonlite::stream_in(file("${table}.ndjson"))`,
    python: (table) => `pd.read_json("${table}.ndjson", lines=True)`,
    duckdb: (table) => `read_json_auto('${table}.ndjson')`,
  },
  parquet: {
    r: (table) => `as.data.frame(arrow::read_parquet("${table}.parquet"))`,
    python: (table) => `pd.read_parquet("${table}.parquet")`,
    duckdb: (table) => `'${table}.parquet'`,
  },
};

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
