/** The state of the page, as its address has it. */
export interface HomesAddress {
  readonly show: HomesViewName;
  /** Part of the number of a home, or of what it needs. */
  readonly find: string;
  /** Chosen values of facets; of those that are absent every home is shown. */
  readonly chosen: Readonly<Partial<Record<FacetName, string>>>;
  readonly sort: Sort;
  readonly down: boolean;
  /** From 1 on. */
  readonly page: number;
}

export const views = {
  homes: "All homes",
  missing: "Missing data",
  activity: "Activity",
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

/** Facets that homes are chosen by, and the title of each. */
export const facets = { need: "Need", region: "Region", study: "Study", version: "Version" } as const;
export type FacetName = keyof typeof facets;
export const facetNames = Object.keys(facets) as FacetName[];

/** The page as an address shows it that says nothing. */
export const firstAddress: HomesAddress = {
  show: "homes",
  find: "",
  chosen: {},
  sort: "home",
  down: false,
  page: 1,
};

/** Whatever an address says that is not known here is as if it were not said. */
export function addressIn(query: URLSearchParams): HomesAddress {
  const [show, sort] = [query.get("show") ?? "", query.get("sort") ?? ""];
  const page = Number(query.get("page"));
  return {
    show: Object.hasOwn(views, show) ? (show as HomesViewName) : firstAddress.show,
    find: textOf(query, "find"),
    chosen: Object.fromEntries(
      facetNames.map((name) => [name, textOf(query, name)]).filter(([, value]) => value !== ""),
    ),
    sort: Object.hasOwn(sorts, sort) ? (sort as Sort) : firstAddress.sort,
    down: query.has("down"),
    page: Number.isInteger(page) && page > 1 ? Math.min(page, pages_max) : 1,
  };
}

function textOf(query: URLSearchParams, name: string): string {
  return (query.get(name) ?? "").trim().slice(0, text_length_max);
}

/** Whether all homes are shown that there are. */
export function isOfAll({ find, chosen }: HomesAddress): boolean {
  return find === "" && Object.keys(chosen).length === 0;
}

/** A link to the page in another state. It leads to what is chosen: on a phone that is far below what comes first. */
export function hrefTo(address: HomesAddress): string {
  return `${pathTo(address)}#${shown_id}`;
}

/** A link to another state of the page, from its top. */
export function pathTo(address: HomesAddress): string {
  const query = new URLSearchParams();
  if (address.show !== firstAddress.show) query.set("show", address.show);
  if (address.find !== "") query.set("find", address.find);
  for (const [name, value] of Object.entries(address.chosen)) query.set(name, value);
  if (address.sort !== firstAddress.sort) query.set("sort", address.sort);
  if (address.down) query.set("down", "");
  if (address.page > 1) query.set("page", String(address.page));
  const text = query.toString();
  return `/${text === "" ? "" : `?${text}`}`;
}

/** The part of the page that its address chooses. */
export const shown_id = "shown-homes";
const text_length_max = 100;
const pages_max = 100_000;
