import type { FileColumn, FileColumnType } from "../columns.ts";
import { atText } from "../package-readings.ts";
import type { StampForm } from "../text-formats.ts";
import { type Contents, checksumOf, citationOf, type DescribedFile, madeOf } from "./package-contents.ts";

/** A Frictionless Data Package of a download: every file with its fields, their types, units and meanings. */
export function dataPackage(contents: Contents): object {
  const { tables, format, stamp, origin, made_ms, version } = contents;
  const made = madeOf(contents);
  const tabular = format === "csv";
  return {
    profile: tabular ? "tabular-data-package" : "data-package",
    name: "lintel-download",
    title: "Readings and records of homes, by Lintel",
    description: "codebook.md says the same for people.",
    created: new Date(made_ms).toISOString(),
    sources: [{ title: `Lintel ${version}, from ${origin.name}`, ...(origin.url && { path: origin.url }) }],
    ...(made && { lintel: made }),
    resources: tables.map(({ name, title, notes, path, rows, bytes, sha256, columns }) => ({
      name,
      title,
      ...(notes && { description: notes }),
      path,
      profile: tabular ? "tabular-data-resource" : "data-resource",
      format,
      mediatype: mediaTypes[format],
      ...(format === "parquet" ? {} : { encoding: "utf-8" }),
      ...(tabular
        ? { dialect: { delimiter: ",", lineTerminator: "\r\n", doubleQuote: true, header: true } }
        : {}),
      bytes,
      hash: `sha256:${sha256}`,
      rows,
      schema: { fields: columns.map((column) => fieldOf(column, stamp)), missingValues: [""] },
    })),
  };
}

/** Media types of files of each format. */
export const mediaTypes = {
  csv: "text/csv",
  ndjson: "application/x-ndjson",
  parquet: "application/vnd.apache.parquet",
} as const;

function fieldOf({ name, type, nullable, meaning, unit, bits }: FileColumn, stamp: StampForm): object {
  const moment = stamp === "iso" ? { type: "datetime", format: "any" } : { type: "integer" };
  return {
    name,
    ...(type === "moment" ? moment : { type: fieldTypes[type] }),
    description: meaning,
    ...(unit === "" ? {} : { unit }),
    ...(bits && { bits: bits.map((meaning, bit) => ({ bit, value: 2 ** bit, meaning })) }),
    constraints: { required: !nullable && type !== "text" },
  };
}

const fieldTypes: Readonly<Record<Exclude<FileColumnType, "moment">, string>> = {
  text: "string",
  integer: "integer",
  real: "number",
  boolean: "boolean",
  date: "date",
};

/** An RO-Crate 1.2 of a download: what its files are, who made them, when and from where. */
export function roCrate(contents: Contents, descriptions: readonly string[]): object {
  const { tables, others, format, origin, made_ms, version, at } = contents;
  const citation = citationOf(contents);
  const made = new Date(made_ms).toISOString();
  const files = [
    ...tables.map((table) => fileEntity(table, mediaTypes[format])),
    ...others.map((other) => fileEntity(other, mediaTypes.ndjson)),
    ...descriptions.map((path) => ({ "@id": path, "@type": "File", name: path })),
  ];
  const { name, url } = origin;
  const source = { "@id": url ?? "#store", "@type": "Dataset", name, ...(url && { url }) };
  return {
    "@context": "https://w3id.org/ro/crate/1.2/context",
    "@graph": [
      {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        conformsTo: { "@id": "https://w3id.org/ro/crate/1.2" },
        about: { "@id": "./" },
      },
      {
        "@id": "./",
        "@type": "Dataset",
        name: "Readings and records of homes, by Lintel",
        description: `Written from ${origin.name} at ${made}. codebook.md says what every number means.`,
        ...(citation && { creditText: citation, identifier: `sha256:${checksumOf(tables)}` }),
        ...(at && { version: atText(at.epochs) }),
        datePublished: made.slice(0, 10),
        license: "The terms of the study that the readings belong to: ask whoever made the access token.",
        hasPart: files.map(({ "@id": id }) => ({ "@id": id })),
        mentions: { "@id": "#made" },
      },
      ...files,
      {
        "@id": "#made",
        "@type": "CreateAction",
        name: origin.command,
        endTime: made,
        instrument: { "@id": "#lintel" },
        object: { "@id": source["@id"] },
        result: { "@id": "./" },
      },
      { "@id": "#lintel", "@type": "SoftwareApplication", name: "Lintel", version, softwareVersion: version },
      source,
    ],
  };
}

function fileEntity({ path, title, bytes, sha256, rows }: DescribedFile, encodingFormat: string) {
  return {
    "@id": path,
    "@type": "File",
    name: path,
    description: `${title}: ${rows} rows`,
    encodingFormat,
    contentSize: String(bytes),
    sha256,
  };
}
