import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isAsSigned } from "../base/signed-json.ts";
import { acceptances_max, KeptAcceptance } from "./acceptance.ts";
import { valueInFile } from "./home-file.ts";

/** The name of the file of acceptances, in a data directory and at central. */
export const acceptancesFile = "acceptances.json";

/** Central keeps no larger file. */
export const acceptances_bytes_max = 2 * 1024 * 1024;

const AcceptancesFile = Type.Object({
  acceptances: Type.Array(Type.Unknown(), { maxItems: acceptances_max }),
});

/** The records of a file, newest first; what is not as its box signed it is left out. */
export function acceptancesInFile(content: Uint8Array | undefined): readonly KeptAcceptance[] {
  return valueInFile(AcceptancesFile, content)?.acceptances.filter(isWhole) ?? [];
}

/** The file of records, newest first. */
export function acceptancesBytes(acceptances: readonly KeptAcceptance[]): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(
    JSON.stringify({ acceptances: [...acceptances] } satisfies Static<typeof AcceptancesFile>),
  );
}

/** The same; undefined where not each of them could be read from it again. */
export function readableBytes(acceptances: readonly KeptAcceptance[]): Uint8Array<ArrayBuffer> | undefined {
  const content = acceptancesBytes(acceptances);
  const isRead =
    content.length <= acceptances_bytes_max && acceptancesInFile(content).length === acceptances.length;
  return isRead ? content : undefined;
}

/** The file that stays when another one comes: a record and a first night that are kept never change, and none goes. */
export function mergedAcceptances(kept: Uint8Array | undefined, arrived: Uint8Array): Uint8Array {
  // What every night brings again needs no look at each signature.
  if (kept !== undefined && Buffer.compare(kept, arrived) === 0) return kept;
  const name = ({ key, signed }: KeptAcceptance) => `${key} ${signed.number}`;
  const all = new Map(acceptancesInFile(kept).map((one) => [name(one), one]));
  for (const one of acceptancesInFile(arrived).toReversed()) {
    const known = all.get(name(one));
    if (known === undefined && all.size < acceptances_max) all.set(name(one), one);
    else if (known?.signature === one.signature && known.nights.length === 0)
      all.set(name(one), { ...known, nights: one.nights });
  }
  const merged = [...all.values()].toSorted((one, other) => other.signed.finished - one.signed.finished);
  return readableBytes(merged) ?? kept ?? acceptancesBytes([]);
}

function isWhole(found: unknown): found is KeptAcceptance {
  if (!Value.Check(KeptAcceptance, found) || !isAsSigned(found)) return false;
  return found.nights.every(
    (night) => night.key === found.key && night.signed.acceptance === found.signature && isAsSigned(night),
  );
}
