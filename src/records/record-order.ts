import { definitionOf, type RecordType, type StoredRecord } from "./record-table.ts";

/** Records of a type in the order in which they are listed: null first, numbers by size, texts by code unit. */
export function inOrder(type: RecordType, records: readonly StoredRecord[]): StoredRecord[] {
  const { order, identity } = definitionOf(type);
  // Two records that tie in the order of the list must still come in the same order each time.
  const fields = [...order, ...identity];
  return records.toSorted((one, other) => {
    for (const field of fields) {
      const difference = compared(one[field], other[field]);
      if (difference !== 0) return difference;
    }
    return 0;
  });
}

function compared(one: unknown, other: unknown): number {
  if (one === other) return 0;
  if (one === null || other === null) return one === null ? -1 : 1;
  if (typeof one === "number" && typeof other === "number") return one - other;
  return String(one) < String(other) ? -1 : 1;
}
