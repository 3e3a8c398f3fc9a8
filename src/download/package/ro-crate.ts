import { atText } from "../at.ts";
import { mediaTypes } from "./data-package.ts";
import { checksumOf, citationOf } from "./reproducible.ts";
import type { Contents, DescribedFile } from "./written.ts";

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
