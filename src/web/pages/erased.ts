import { isWholeHome } from "../../store/erasure.ts";
import type { LastErasure } from "./parts/erased-text.ts";
import type { Asked } from "./site.ts";

/** The last erasure of a home; null where nothing was erased, or the reader does not see the home. */
export async function erasedIn(
  { site, store }: Pick<Asked, "site" | "store">,
  home: number | undefined,
): Promise<LastErasure | null> {
  const isCentral = site.role === "central";
  if (isCentral && (home === undefined || store.homes?.includes(home) === false)) return null;
  const [last] = (await site.store.erasures())
    .filter((span) => !isCentral || span.home === home)
    .toSorted((one, other) => other.at_ms - one.at_ms);
  return last === undefined ? null : { at_ms: last.at_ms, isWhole: isWholeHome(last) };
}
