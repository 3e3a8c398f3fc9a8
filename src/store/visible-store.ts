import { RecentlyUsed } from "../base/recently-used.ts";
import type { Visible } from "../domain/records/visible-records.ts";
import type { AskedUses } from "./restriction.ts";
import type { Store, Token } from "./store.ts";

/** The reads of a store that are served to holders of tokens. */
export type VisibleStore = Pick<
  Store,
  | "itemTypes"
  | "items"
  | "itemsLike"
  | "itemsIn"
  | "item"
  | "itemOverviews"
  | "givenNames"
  | "itemState"
  | "itemMarks"
  | "page"
  | "markedPage"
  | "pageMark"
  | "arrivals"
  | "heldEpochs"
  | "oldestFirst"
  | "downsampled"
  | "coverage"
  | "records"
  | "record"
  | "recordsOf"
  | "ownerMarks"
> & {
  /** The homes that it is cut to; absent: all. */
  readonly homes?: readonly number[];
  /** Homes that are left out because their consent does not cover the uses that were asked for. */
  readonly leftOut?: readonly number[] | undefined;
};

/**
 * A store as the holders of tokens see it: who may see a part has a store of that part, so that no endpoint needs to know. What a token may see is
 * remembered until the store changes, and so are the items that were asked for.
 */
export class VisibleStores {
  readonly #store: Store;
  readonly #remembered = new RecentlyUsed<{ readonly changes: number; readonly store: VisibleStore }>({
    weight_max: numbers_max,
  });

  constructor(store: Store) {
    this.#store = store;
  }

  /**
   * @param changes `Store.changes` as it was before anything was read for this request
   * @param asked the uses that it is for; what is remembered of them is not older than a minute
   */
  async of(token: Token, changes: number | undefined, asked?: AskedUses): Promise<VisibleStore> {
    const whose = token.binding === undefined && token.restricted !== true ? "" : token.id;
    const name =
      asked === undefined ? whose : `${whose} ${asked.uses} ${Math.floor(asked.at_ms / minute_ms)}`;
    const remembered = this.#remembered.get(name);
    if (remembered !== undefined && remembered.changes === changes) return remembered.store;
    const seen = await seenBy(this.#store, token, asked);
    const store = seen === undefined ? this.#store : visiblePart(this.#store, seen);
    if (changes === undefined) return store;
    const { hidden, ...numbers } = seen ?? {};
    const lists = [...Object.values(numbers), ...Object.values(hidden ?? {})];
    const weight = lists.reduce((sum, list) => sum + list.length, items_max);
    const remembering = rememberingItems(store);
    this.#remembered.set(name, { changes, store: remembering }, weight);
    return remembering;
  }
}

/** The records that a token sees; undefined: everything. This is the one place where what is restricted is left out, of whatever is served or written to files. */
export async function seenBy(
  store: Pick<Store, "visible" | "unrestricted">,
  { binding, restricted = false }: Pick<Token, "binding" | "restricted">,
  asked?: AskedUses,
): Promise<Visible | undefined> {
  if (binding !== undefined) return store.visible(binding, restricted, asked);
  return restricted ? undefined : store.unrestricted(asked);
}

/** The store as a command that shows or exports it sees it: whoever opens the store itself sees everything, but for what is restricted. */
export async function shownStore(store: Store, asked?: AskedUses): Promise<VisibleStore> {
  const seen = await seenBy(store, {}, asked);
  return seen === undefined ? store : visiblePart(store, seen);
}

/** Whether a home is known: by a record of it, or by an item that is there. A home uploads before the programme has a record of it. */
export async function knowsHome(store: VisibleStore, home: number): Promise<boolean> {
  return (await store.record("homes", home)) !== undefined || (await store.itemsIn(home)).length > 0;
}

/** A store that does not change: items that were asked for are not read again. */
function rememberingItems(store: VisibleStore): VisibleStore {
  const items = new RecentlyUsed<ReturnType<VisibleStore["item"]>>({ weight_max: items_max });
  const item: VisibleStore["item"] = (kind, name, homes) => {
    const key = `${kind} ${name} ${homes}`;
    const known = items.get(key);
    if (known !== undefined) return known;
    const found = store.item(kind, name, homes);
    items.set(key, found, 1);
    found.catch(() => items.delete(key));
    return found;
  };
  return Object.assign(Object.create(store) as VisibleStore, { item });
}

/** The part of a store that one sees: homes with all that was recorded in them, and the records that name nothing else. */
export function visiblePart(store: VisibleStore, seen: Visible): VisibleStore {
  const { homes } = seen;
  // Pages of different homes are different pages, whatever else they have in common.
  const whose = new Bun.CryptoHasher("sha256").update(homes.join()).digest("base64url");
  const alsoSeen = (asked: readonly number[] | undefined) =>
    asked?.filter((home) => homes.includes(home)) ?? homes;
  const ofSeen = <Request extends { readonly homes?: readonly number[] }>(request: Request): Request => ({
    ...request,
    homes: alsoSeen(request.homes),
  });
  return {
    homes,
    leftOut: seen.leftOut,
    itemTypes: () => store.itemTypes(homes),
    items: (kind, window) => store.items(kind, ofSeen(window)),
    itemMarks: (kind, window) => store.itemMarks(kind, ofSeen(window)),
    itemsLike: (text, window) => store.itemsLike(text, ofSeen(window)),
    itemsIn: async (home) => (homes.includes(home) ? store.itemsIn(home) : []),
    item: (kind, name) => store.item(kind, name, homes),
    itemOverviews: (of) => store.itemOverviews(alsoSeen(of)),
    givenNames: async (home) => {
      const isSeen = home === undefined ? homes.length > 0 : homes.includes(home);
      return isSeen ? store.givenNames(home) : [];
    },
    itemState: (item, of) => store.itemState(item, alsoSeen(of)),
    page: (request) => store.page(ofSeen(request)),
    markedPage: async (request, keptAs) => {
      const found = await store.markedPage(ofSeen(request), (mark) => keptAs(`${whose} ${mark}`));
      return { ...found, mark: `${whose} ${found.mark}` };
    },
    pageMark: async (request) => `${whose} ${await store.pageMark(ofSeen(request))}`,
    arrivals: (request) => store.arrivals(ofSeen(request)),
    heldEpochs: (of) => store.heldEpochs(alsoSeen(of)),
    oldestFirst: (request) => store.oldestFirst(ofSeen(request)),
    downsampled: (request) => store.downsampled(ofSeen(request)),
    coverage: (request) => store.coverage(ofSeen(request)),
    records: (type) => store.records(type, seen),
    record: (type, number) => store.record(type, number, seen),
    ownerMarks: (owners, window) => store.ownerMarks(owners, window, seen),
    recordsOf: (type, owner) => store.recordsOf(type, owner, seen),
  };
}

const minute_ms = 60_000;
/** Items that are remembered of a token, and what each weighs. */
const items_max = 1_000;
/** Numbers of records that are remembered, of all tokens together. */
const numbers_max = 1_000_000;
