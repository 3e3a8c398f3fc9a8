/**
 * A rule that a field keeps besides its schema: the values it may have in a given record. Null and the fields
 * that a record doesn't give are outside of every rule.
 */
export interface RecordRule {
  readonly field: string;
  /** The values allowed beside what the rest of the record says; undefined where anything goes. */
  readonly allowed: (record: PartialRecord) => readonly string[] | undefined;
}

/** Fields of a record by name, as far as they are known. */
export type PartialRecord = Readonly<Record<string, unknown>>;

/**
 * Fills a field that an import leaves out (or gives as null) from the fields before it and those given.
 * Undefined where it can't tell, because the field it would follow from is at fault itself.
 */
export type Default = (record: PartialRecord) => unknown;

/** The same value in every record. */
export function always(value: unknown): Default {
  return () => value;
}
