import { itemVisibleFrom } from "../domain/records/visible-records.ts";
import type { Binding } from "../domain/token.ts";
import { arrays, type Database, firstOf, type Work } from "./database.ts";
import { allErasures } from "./inventory/erasing.ts";
import { erasurePlan } from "./inventory/erasure-plan.ts";
import type { Homes } from "./inventory/homes.ts";
import { itemOverviews, itemState } from "./inventory/item-overviews.ts";
import { itemMarks, ownerMarks } from "./inventory/marks.ts";
import { givenNames } from "./inventory/naming.ts";
import { pausesIn } from "./inventory/pausing.ts";
import type { RecordStore } from "./inventory/record-store.ts";
import {
  itemidsOf,
  itemNamed,
  itemsIn,
  itemsLike,
  itemsOfKind,
  itemTypes,
  keepsRecords,
  knownRecords,
  recordNumbered,
  recordsOfOwner,
  recordsOfType,
  recordsWith,
  visibleWith,
} from "./inventory/records.ts";
import { journal, unrestricted, withoutRestricted } from "./inventory/restricting.ts";
import { enrollmentEnds, retentionNotices } from "./inventory/retaining.ts";
import { oneAtATime } from "./inventory/staged-import.ts";
import type { AskedUses } from "./restriction.ts";
import { BlockLists } from "./series/block-lists.ts";
import { coverage } from "./series/coverage-reads.ts";
import { downsampled } from "./series/downsampling.ts";
import { arrivals, epochsOf, oldestFirst } from "./series/full-series.ts";
import { markedPage, page, pageMark } from "./series/pages.ts";
import type { Overview, Store } from "./store.ts";
import { allTokens, tokenWith } from "./tokens.ts";
import type { WriteArguments, WriteName, Written } from "./writes.ts";

/** The parts of a store. */
export interface StoreParts {
  readonly database: StoreDatabase;
  readonly writer: StoreWriter;
  readonly homes: Homes;
  /** The name of the store: see `epochOf`. */
  readonly epoch: string;
}

/** The database that a store reads. */
export interface StoreDatabase extends Database {
  /** See `Store.changes`. */
  changes(): number | undefined;
  /** An overview, as far as it is of the database and not of items. */
  facts(): Work<Omit<Overview, "epoch" | "items">>;
  close(): Promise<void>;
}

/** The one that changes a store. */
export interface StoreWriter {
  /** Does a change in one transaction, which is on disk when it resolves; nothing is changed when it rejects. */
  write<Name extends WriteName>(name: Name, ...given: WriteArguments<Name>): Promise<Written<Name>>;
  importRecords: RecordStore["importRecords"];
  close(): Promise<void>;
}

/** A store over a database, of either kind. */
export function storeOn(parts: StoreParts): Store {
  const { database, writer, homes, epoch } = parts;
  const { read, snapshot } = readsOf(database);
  return {
    ...itemReads(parts),
    ...recordReads(parts),
    ...seriesReads(parts),
    changes: () => database.changes(),
    givenNames: read((home?: number) => givenNames(homes, home)),
    importRecords: oneAtATime((...given) => writer.importRecords(...given)),
    token: read(tokenWith),
    tokens: read(allTokens),
    addToken: (token) => writer.write("addToken", token),
    revokeToken: (id) => writer.write("revokeToken", id),
    noteTokenUse: (used) => writer.write("noteTokenUse", used),
    erasures: read(allErasures),
    erasurePlan: snapshot((target, now_ms) => erasurePlan(homes, target, now_ms)),
    erase: (request) => writer.write("erase", request),
    takeErasures: (spans) => writer.write("takeErasures", spans),
    pauses: read(pausesIn),
    takePauses: (pauses) => writer.write("takePauses", pauses),
    withdraw: (withdrawal) => writer.write("withdraw", withdrawal),
    followEnrollments: (now_ms) => writer.write("followEnrollments", now_ms),
    changeNotes: (home, changes) => writer.write("changeNotes", home, changes),
    restrict: (request) => writer.write("restrict", request),
    liftRestriction: (request) => writer.write("liftRestriction", request),
    journal: read(journal),
    enrollmentEnds: snapshot(enrollmentEnds),
    retentionNotices: read(retentionNotices),
    setRetentionNotices: (notices) => writer.write("setRetentionNotices", notices),
    noteInJournal: (entry) => writer.write("noteInJournal", entry),
    overview: snapshot(function* () {
      return { epoch, ...(yield* database.facts()), items: yield* itemOverviews(homes) };
    }),
    close: async () => {
      // On SQLite the last connection to close tidies up, and only the writer's may write.
      await database.close();
      await writer.close();
    },
  };
}

/** Has a request ask for the homes that the store has: one of one home has it as 0. */
function seenOf(homes: Homes) {
  return <Request extends { readonly homes?: readonly number[] }>(request: Request): Request =>
    homes.one ? { ...request, homes: homes.seen(request.homes) } : request;
}

function itemReads({ database, homes, epoch }: StoreParts) {
  const seen = seenOf(homes);
  return {
    itemTypes: (of) => database.read(() => itemTypes(homes.seen(of))),
    items: async (kind, window) => {
      const items = await database.read(() => itemsOfKind(kind, seen(window)));
      return items.map((item) => itemVisibleFrom(window.homes, item));
    },
    itemsLike: async (text, window) => {
      const items = await database.read(() => itemsLike(text, seen(window)));
      return items.map((item) => itemVisibleFrom(window.homes, item));
    },
    itemsIn: readsOf(database).read(itemsIn),
    itemMarks: (kind, window) => database.snapshot(() => itemMarks(homes, epoch, kind, seen(window))),
    item: async (kind, name, of) => {
      const item = await database.read(() => itemNamed(kind, name, homes.seen(of)));
      return item && { ...item, record: itemVisibleFrom(of, item.record) };
    },
    itemOverviews: async (of) => {
      const overviews = await database.snapshot(() => itemOverviews(homes, homes.seen(of)));
      return overviews.map((one) => ({ ...one, record: itemVisibleFrom(of, one.record) }));
    },
    itemState: async (item, of) => {
      const state = await database.snapshot(() => itemState(homes, item, homes.seen(of)));
      return state && { ...state, record: itemVisibleFrom(of, state.record) };
    },
  } satisfies Partial<Store>;
}

function recordReads({ database, homes, epoch }: StoreParts) {
  const { read, snapshot } = readsOf(database);
  return {
    visible: snapshot(function* (binding: Binding, restricted = false, asked?: AskedUses) {
      const seen = yield* visibleWith(homes, binding);
      return restricted ? seen : yield* withoutRestricted(homes, seen, asked);
    }),
    unrestricted: snapshot((asked?: AskedUses) => unrestricted(homes, asked)),
    records: (type, seen) => database.read(() => recordsOfType(homes, type, seen)),
    record: (type, number, seen) => database.read(() => recordNumbered(homes, type, number, seen)),
    recordsOf: (type, owner, seen) => database.snapshot(() => recordsOfOwner(homes, type, owner, seen)),
    ownerMarks: (owners, window, seen) =>
      database.snapshot(() => ownerMarks({ homes, epoch, seen }, owners, window)),
    recordsWith: read(recordsWith),
    knownRecords: read(knownRecords),
    keepsRecords: read(keepsRecords),
    itemidsOf: read(itemidsOf),
  } satisfies Partial<Store>;
}

function seriesReads({ database, homes, epoch }: StoreParts) {
  const seen = seenOf(homes);
  const lists = new BlockLists();
  return {
    page: (request) => database.page(() => page(homes, lists, seen(request))),
    markedPage: (request, keptAs) =>
      database.page(() => markedPage({ homes, lists, epoch }, seen(request), keptAs)),
    pageMark: (request) => database.read(() => pageMark(homes, epoch, seen(request))),
    oldestFirst: (request) => database.page(() => oldestFirst(homes, seen(request))),
    arrivals: (request) => database.page(() => arrivals(homes, epoch, seen(request))),
    heldEpochs: (of) => database.snapshot(() => epochsOf(homes, homes.seen(of))),
    downsampled: (request) => downsampled(database, homes, seen(request)),
    coverage: (request) => database.snapshot(() => coverage(seen(request))),
  } satisfies Partial<Store>;
}

/** Makes of works that read functions that do them. */
export function readsOf(database: Database) {
  return {
    /** See `Database.read`. */
    read:
      <Request extends unknown[], Result>(work: (...request: Request) => Work<Result>) =>
      (...request: Request): Promise<Result> =>
        database.read(() => work(...request)),
    /** See `Database.snapshot`. */
    snapshot:
      <Request extends unknown[], Result>(work: (...request: Request) => Work<Result>) =>
      (...request: Request): Promise<Result> =>
        database.snapshot(() => work(...request)),
  };
}

/** The random name of a database, made with it. */
export function* epochOf(): Work<string> {
  const row = yield* firstOf(arrays<[string]>("SELECT value FROM meta WHERE name = 'epoch'"));
  return String(row?.[0]);
}
