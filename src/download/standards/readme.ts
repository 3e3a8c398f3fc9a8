import { basename } from "node:path";
import { mappings } from "./mapping.ts";
import type { Standard, StandardFiles } from "./standard.ts";
import type { StandardName } from "./standards.ts";

/** For whoever finds the files of a standard: what each holds, how it was made, and what is not in them. */
export function standardReadme(standard: Standard, written: StandardFiles, name: StandardName): string {
  const rows = mappings.flatMap((mapping) => {
    const { series, fields, quantity, made = "" } = mapping;
    const file = standard.fileOf(mapping);
    const from =
      quantity === undefined ? fields.map((field) => `\`${field}\``).join(", ") : `\`${quantity}\``;
    return mapping[name] === undefined || file === undefined
      ? []
      : [`| \`${file}.ndjson\` | \`${series}\`: ${from} | ${standard.wordsOf(mapping)} | ${made} |`];
  });
  const counts = Object.entries(written.files).map(
    ([path, lines]) => `- \`${basename(path)}\`: ${lines} lines`,
  );
  return `# Readings as ${standard.title}

${standard.about}

The tables in the directory above are the whole of the download; these files say a part of it once more, in the words of the standard. Coverage is not among them, because
the standard has nothing for it: before you count anything, read \`missingness.ndjson\` there.

${counts.join("\n")}

## What is what

| file | from | here | made of |
|---|---|---|---|
${rows.join("\n")}

An identifier is made of the address of the server, the item and the time: it is the same whenever the same reading is downloaded from the same server.

## What is not here

${missing(written)}
`;
}

/** Everything that is not in the files, in sentences, also for the terminal. */
export function absences({ title, lacking, without, unassigned, otherUnit }: StandardFiles): string[] {
  return [
    ...(without.length > 0 ? [`${title}: ${lacking} for ${without.join(", ")}: the tables have them.`] : []),
    ...(unassigned > 0
      ? [
          `${unassigned} measurements name no subject, because subject_inventory does not say who had the device.`,
        ]
      : []),
    ...(otherUnit > 0
      ? [
          `${otherUnit} measures are left out, because they were recorded in another unit than that of their quantity.`,
        ]
      : []),
  ];
}

function missing(written: StandardFiles): string {
  const found = absences(written);
  return found.length === 0 ? "Nothing of what was downloaded." : found.map((one) => `- ${one}`).join("\n");
}
