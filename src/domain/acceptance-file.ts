import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { decodeJson, decodingBounds } from "../base/json-decoder.ts";
import { isAsSigned } from "../base/signed-json.ts";
import { acceptances_max, KeptAcceptance } from "./acceptance.ts";

/** The name of the file of acceptances, in a data directory and at central. */
export const acceptancesFile = "acceptances.json";

const AcceptancesFile = Type.Object({
  acceptances: Type.Array(Type.Unknown(), { maxItems: acceptances_max }),
});

/** The records of a file, newest first; what is not as its box signed it is left out. */
export function acceptancesInFile(content: Uint8Array | undefined): readonly KeptAcceptance[] {
  if (content === undefined) return [];
  try {
    const found = decodeJson(content, decodingBounds.homeFile);
    return Value.Check(AcceptancesFile, found) ? found.acceptances.filter(isWhole) : [];
  } catch {
    return [];
  }
}

/** The file of records, newest first. */
export function acceptancesBytes(acceptances: readonly KeptAcceptance[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    JSON.stringify({ acceptances: [...acceptances] } satisfies Static<typeof AcceptancesFile>),
  );
}

/** The file that stays when another one comes: a record and a first night that are kept never change, and none goes. */
export function mergedAcceptances(
  kept: Uint8Array | undefined,
  arrived: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const name = ({ key, signed }: KeptAcceptance) => `${key} ${signed.number}`;
  const all = new Map(acceptancesInFile(kept).map((one) => [name(one), one]));
  for (const one of acceptancesInFile(arrived).toReversed()) {
    const known = all.get(name(one));
    if (known === undefined && all.size < acceptances_max) all.set(name(one), one);
    else if (known?.signature === one.signature && known.nights.length === 0)
      all.set(name(one), { ...known, nights: one.nights });
  }
  return acceptancesBytes(
    [...all.values()].toSorted((one, other) => other.signed.finished - one.signed.finished),
  );
}

function isWhole(found: unknown): found is KeptAcceptance {
  if (!Value.Check(KeptAcceptance, found) || !isAsSigned(found)) return false;
  return found.nights.every(
    (night) => night.key === found.key && night.signed.acceptance === found.signature && isAsSigned(night),
  );
}
