import { isAsSigned } from "../base/signed-json.ts";
import { SignedBurnIn } from "./burn-in.ts";
import { valueInFile } from "./home-file.ts";

/** The name of the signed record, in a data directory and at central. */
export const burnInFile = "burn-in.json";

/** The record in a file; undefined where there is none, or it is not as its box signed it. */
export function burnInInFile(content: Uint8Array | undefined): SignedBurnIn | undefined {
  const found = valueInFile(SignedBurnIn, content);
  return found !== undefined && isAsSigned(found) ? found : undefined;
}
