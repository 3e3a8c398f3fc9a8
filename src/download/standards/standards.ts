import { fhir } from "./fhir.ts";
import { ieee1752 } from "./ieee1752.ts";
import type { Standard } from "./standard.ts";

/** The standards that a download can be in besides its own tables. The key is the word on the command line, and the directory of the files. */
export const standards = { ieee1752, fhir } as const satisfies Record<string, Standard>;

export type StandardName = keyof typeof standards;

export const standardNames = Object.keys(standards) as StandardName[];
