import { Value } from "@sinclair/typebox/value";
import { decodeJson, decodingBounds } from "../base/json-decoder.ts";
import { isAsSigned } from "../base/signed-json.ts";
import { SignedBurnIn } from "./burn-in.ts";

/** The name of the signed record, in a data directory and at central. */
export const burnInFile = "burn-in.json";

/** The record in a file; undefined where there is none, or it is not as its box signed it. */
export function burnInInFile(content: Uint8Array | undefined): SignedBurnIn | undefined {
  if (content === undefined) return undefined;
  try {
    const found = decodeJson(content, decodingBounds.homeFile);
    return Value.Check(SignedBurnIn, found) && isAsSigned(found) ? found : undefined;
  } catch {
    return undefined;
  }
}
