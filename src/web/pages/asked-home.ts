import { nowhere } from "../../domain/records/visible-records.ts";
import type { Token } from "../../domain/token.ts";
import { knowsHome, seenBy, type VisibleStore } from "../../store/visible-store.ts";
import { HttpError } from "../server/http-errors.ts";
import { erasedIn } from "./erased.ts";
import type { Asked, Site } from "./site.ts";

/** The home that a page is of, as its data has it. */
export interface AskedHome {
  readonly role: Site["role"];
  readonly home: number | null;
}

/**
 * The home that a page is asked for: at a gateway its own, undefined where nobody has told which.
 *
 * @param seen.homes that the token sees; absent: all
 * @throws HttpError 404 where it is no number of a home, or the token sees nothing of it
 */
export async function askedHome(
  { site, store, params }: Asked,
  seen: Pick<VisibleStore, "homes"> = store,
): Promise<number | undefined> {
  const home = site.role === "gateway" ? site.home : homeIn(params["home"]);
  if (!isAmong(seen.homes, home)) throw unknown(home);
  return home;
}

/** @throws HttpError 404 where there is no such home */
export async function requireRecord({ store }: Asked, home: number): Promise<void> {
  if ((await store.record("homes", home)) === undefined) throw unknown(home);
}

/** @throws HttpError 404 where central knows neither a record nor an item of the home, nor that it was erased */
export async function requireHome(asked: Asked, home: number): Promise<void> {
  if (!(await isKnown(asked, home))) throw unknown(home);
}

/** Whether central knows a record or an item of the home, or that it was erased. */
export async function isKnown(asked: Asked, home: number): Promise<boolean> {
  return (await knowsHome(asked.store, home)) || (await erasedIn(asked, home))?.isWhole === true;
}

/** @throws HttpError 404 where it is no number of a home */
function homeIn(text = ""): number {
  if (!/^[1-9][0-9]{0,14}$/.test(text)) throw new HttpError("record_unknown", { record: "home", id: text });
  return Number(text);
}

function unknown(home: number | undefined): HttpError {
  return home === undefined
    ? new HttpError("path_unknown", {})
    : new HttpError("record_unknown", { record: "home", id: home });
}

/** Whether the reader sees all that there is, but for what is restricted. */
export function isWhole({ store: { homes } }: Pick<Asked, "store">): boolean {
  return homes === undefined || homes.includes(nowhere);
}

/** Whether a token sees a home; at a gateway whose home has no number, whether it sees anything. */
export async function sees(
  { store }: Site,
  token: Pick<Token, "binding" | "restricted">,
  home: number | undefined,
) {
  return isAmong((await seenBy(store, token))?.homes, home);
}

function isAmong(homes: readonly number[] | undefined, home: number | undefined): boolean {
  if (homes === undefined) return true;
  return home === undefined ? homes.length > 0 : homes.includes(home);
}
