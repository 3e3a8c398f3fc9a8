import { acceptancesBytes, acceptancesFile, acceptancesInFile } from "../domain/acceptance-file.ts";
import { meshFile, scansInFile } from "../domain/mesh-file.ts";
import { type ErasedSpan, isWholeHome } from "./erasure.ts";
import { isUnderWay, type PausedSpan } from "./pause.ts";

/** A time of which nothing is kept: an erased one, or a pause. */
export type UnkeptTime = ErasedSpan | PausedSpan;

/** A file of a home without what is of a time of which nothing of the whole home is kept. Files that tell of no time in the home stay as they are. */
export function fileWithoutUnkept(
  name: string,
  content: Uint8Array,
  unkept: readonly UnkeptTime[],
): Uint8Array {
  const whole = unkept.filter(isWholeHome);
  const left = leftOf[name];
  if (left === undefined || whole.length === 0) return content;
  return left(content, (at_ms) => !whole.some((span) => isUnderWay(span, at_ms)));
}

/** By the name of a file: what is left of it where only some moments, unix milliseconds, are kept. */
const leftOf: Readonly<
  Record<string, (content: Uint8Array, isKept: (at_ms: number) => boolean) => Uint8Array>
> = {
  [acceptancesFile]: (content, isKept) =>
    acceptancesBytes(acceptancesInFile(content).filter(({ signed }) => isKept(signed.started * 1000))),
  [meshFile]: (content, isKept) => {
    const scans = scansInFile(content).filter(({ at_ms }) => isKept(at_ms));
    return new TextEncoder().encode(JSON.stringify({ scans }));
  },
};
