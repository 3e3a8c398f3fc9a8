import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { lineLog } from "../../src/base/log.ts";
import { type Format, formatNames } from "../../src/export/table-file.ts";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { Site } from "../../testbed/front-door.ts";
import { fill } from "../../testbed/programme.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { event, oneOfEach, sensor } from "./filled.ts";

/** Types of fields, as `datapackage.json` has them. */
export type FieldType = "string" | "integer" | "number" | "boolean" | "datetime" | "date";

/** A file of a package, with the types that `datapackage.json` tells of its fields. */
export interface ExportedTable {
  readonly name: string;
  /** The file. */
  readonly path: string;
  readonly rows: number;
  readonly fields: Readonly<Record<string, FieldType>>;
}

/** A package as it lies there. */
export interface ExportedPackage {
  readonly format: Format;
  readonly directory: string;
  readonly tables: readonly ExportedTable[];
}

/** Packages of one store as `lintel export` writes them; `write` has in each format one with identifiers and one without. */
export class ExportedPackages {
  readonly #site = new Site();
  #all: readonly ExportedPackage[] = [];

  async write(): Promise<void> {
    await this.fill();
    const all: ExportedPackage[] = [];
    for (const format of formatNames)
      for (const identifiers of [[], ["--identifiers"]]) {
        const name = [format, ...identifiers].join("");
        // Parquet has the columns of the home's time too.
        const timezone = format === "parquet" ? "home" : "utc";
        await this.export(name, ["--format", format, "--timezone", timezone, ...identifiers]);
        const directory = this.directory(name);
        all.push({ format, directory, tables: tablesIn(directory) });
      }
    this.#all = all;
  }

  /** Has a package written by these words. */
  async export(name: string, words: readonly string[]): Promise<void> {
    const output = ["--output", this.directory(name), "--until", "2026-11-20"];
    const { code, said } = await this.#site.lintel("export", "--data", "data", ...output, ...words);
    if (code !== 0) throw new Error(said);
  }

  directory(name: string): string {
    return join(this.#site.directory, name);
  }

  /** Both packages of a format. */
  of(format: Format): readonly ExportedPackage[] {
    return this.#all.filter((one) => one.format === format);
  }

  remove(): Promise<void> {
    return this.#site.remove();
  }

  /** Fills the store that packages are of. */
  async fill(): Promise<void> {
    const clock = new SystemClock();
    const log = lineLog({ write: () => {}, clock });
    const store = await openGatewayStore({
      directory: this.#site.data,
      clock,
      log,
      home: 12,
      ...writerOfTests(),
    });
    await fill(store);
    const listening = [{ listener: "radio", from_ms: start_ms - 3_600_000, to_ms: start_ms + 3_600_000 }];
    const states = [0, 4].map((hour) => ({
      device: sensor(0),
      heard_ms: start_ms + hour * 3_600_000,
      listener: "radio",
      facts: {
        model: "3041-A",
        firmware: `${hour}.1`,
        blind_s: 60,
        measures: [{ quantity: "temperature", unit: "°C" }],
      },
    }));
    await store.append([...oneOfEach(start_ms), event(sensor(0), start_ms, 1)], { listening, states });
    // A sensor that is heard each hour of three days, with events on two of them.
    const steady = "steady";
    const from_ms = start_ms + 86_400_000;
    for (let hour = 0; hour <= 72; hour += 1) {
      const at_ms = from_ms + hour * 3_600_000;
      const events = [2, 3, 26, 27, 28, 29].includes(hour) ? [event(steadySensor, at_ms, 1)] : [];
      await store.append(events, {
        listening: [{ listener: steady, from_ms, to_ms: at_ms }],
        states: [{ device: steadySensor, heard_ms: at_ms, listener: steady }],
      });
    }
    await store.close();
  }
}

const start_ms = Date.UTC(2026, 10, 1);
const steadySensor = sensor(6);

/** The files of a directory, as its `datapackage.json` tells them. */
function tablesIn(directory: string): ExportedTable[] {
  const { resources } = JSON.parse(readFileSync(join(directory, "datapackage.json"), "utf8"));
  return (resources as DescribedResource[]).map(({ name, path, rows, schema }) => ({
    name,
    path: join(directory, path),
    rows,
    fields: Object.fromEntries(schema.fields.map((field) => [field.name, field.type])),
  }));
}

interface DescribedResource {
  readonly name: string;
  readonly path: string;
  readonly rows: number;
  readonly schema: { readonly fields: readonly { readonly name: string; readonly type: FieldType }[] };
}
