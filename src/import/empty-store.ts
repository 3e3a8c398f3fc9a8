import { type RecordType, recordTypes } from "../records/record-table.ts";
import type { RecordChanges, RecordStore } from "../store/record-store.ts";

/** The part of a store that an import needs. */
export type ImportStore = Pick<
  RecordStore,
  "importRecords" | "knownRecords" | "keepsRecords" | "itemidsOf" | "recordsWith"
>;

/** A store that isn't there yet, for dry runs: it holds nothing, and all that comes would be new. */
export const emptyStore: ImportStore = {
  knownRecords: async () => new Set(),
  keepsRecords: async () => false,
  itemidsOf: async () => new Map(),
  recordsWith: async () => [],
  importRecords: async (batches) => {
    const counts = new Map<RecordType, number>();
    for await (const batch of batches) {
      for (const { type } of batch) counts.set(type, (counts.get(type) ?? 0) + 1);
    }
    const changes: Partial<Record<RecordType, RecordChanges>> = {};
    for (const type of recordTypes) {
      const added = counts.get(type);
      if (added !== undefined) changes[type] = { added, updated: 0, unchanged: 0, adopted: 0 };
    }
    return { changes, clashes: [] };
  },
};
