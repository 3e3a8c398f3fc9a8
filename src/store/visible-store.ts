import { RecentlyUsed } from "../base/recently-used.ts";
import type { Visible } from "../domain/records/visible-records.ts";
import type { Store, Token } from "./store.ts";

/** The reads of a store that are served to holders of tokens. */
export type VisibleStore = Pick<
  Store,
  | "itemTypes"
  | "items"
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
};

/**
 * A store as the holders of tokens see it: who may see a part has a store of that part, so that no endpoint needs to know. What a token may see is
 * remembered until the store changes.
 */
export class VisibleStores {
  readonly #store: Store;
  readonly #remembered = new RecentlyUsed<{ readonly changes: number; readonly store: VisibleStore }>({
    weight_max: numbers_max,
  });

  constructor(store: Store) {
    this.#store = store;
  }

  /** @param changes `Store.changes` as it was before anything was read for this request */
  async of({ id, binding }: Token, changes: number | undefined): Promise<VisibleStore> {
    if (binding === undefined) return this.#store;
    const remembered = this.#remembered.get(id);
    if (remembered !== undefined && remembered.changes === changes) return remembered.store;
    const seen = await this.#store.visible(binding);
    const store = visiblePart(this.#store, seen);
    const weight = Object.values(seen).reduce((sum, numbers) => sum + numbers.length, 1);
    if (changes !== undefined) this.#remembered.set(id, { changes, store }, weight);
    return store;
  }
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
    itemTypes: () => store.itemTypes(homes),
    items: (kind, window) => store.items(kind, ofSeen(window)),
    itemMarks: (kind, window) => store.itemMarks(kind, ofSeen(window)),
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

/** Numbers of records that are remembered, of all tokens together. */
const numbers_max = 1_000_000;
