/** The state of the page, as its address has it. */
export interface HomesAddress {
  readonly show: HomesViewName;
  /** Part of the number of a home, or of what it needs. */
  readonly find: string;
  readonly sort: Sort;
  readonly down: boolean;
  /** From 1 on. */
  readonly page: number;
}

export const views = {
  homes: "All homes",
  missing: "Missing data",
  silent: "Silent devices",
  batteries: "Batteries nearly empty",
  versions: "Versions",
  firmware: "Firmware of devices",
} as const;
export type HomesViewName = keyof typeof views;

/** Columns that homes are sorted by, and what each is called. */
export const sorts = {
  home: "Home",
  needs: "Needs",
  upload: "Last upload",
  silent: "Silent",
  backlog: "Still at the gateway",
  version: "Version",
} as const;
export type Sort = keyof typeof sorts;

/** Whatever an address says that is not known here is as if it were not said. */
export function addressIn(query: URLSearchParams): HomesAddress {
  const [show, sort] = [query.get("show") ?? "", query.get("sort") ?? ""];
  const page = Number(query.get("page"));
  return {
    show: Object.hasOwn(views, show) ? (show as HomesViewName) : "homes",
    find: (query.get("find") ?? "").trim().slice(0, find_length_max),
    sort: Object.hasOwn(sorts, sort) ? (sort as Sort) : "home",
    down: query.has("down"),
    page: Number.isInteger(page) && page > 1 ? Math.min(page, pages_max) : 1,
  };
}

/** A link to the page in another state. It leads to what is chosen: on a phone that is far below what comes first. */
export function hrefTo(address: HomesAddress): string {
  const query = new URLSearchParams();
  if (address.show !== "homes") query.set("show", address.show);
  if (address.find !== "") query.set("find", address.find);
  if (address.sort !== "home") query.set("sort", address.sort);
  if (address.down) query.set("down", "");
  if (address.page > 1) query.set("page", String(address.page));
  const text = query.toString();
  return `/${text === "" ? "" : `?${text}`}#${shown_id}`;
}

/** The part of the page that its address chooses. */
export const shown_id = "shown-homes";
const find_length_max = 100;
const pages_max = 100_000;
