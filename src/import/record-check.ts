import { exactText } from "../csv-text.ts";
import {
  definitionOf,
  fieldsOf,
  identityOf,
  type RecordDefinition,
  type RecordType,
  type StoredRecord,
} from "../records/record-table.ts";
import { givenText, unknownField } from "./fault.ts";
import { embeddedCheck, type FieldCheck, fieldCheck, isNullable } from "./field-check.ts";
import { lineOf, type RawRecord } from "./raw-record.ts";

/** The result of checking one record. */
export interface CheckedRecord {
  /** The record with every field in its place; what of it is at fault is absent. */
  readonly record: StoredRecord;
  /** Which record it is; undefined where that is at fault. */
  readonly identity: string | undefined;
  readonly faults: readonly FieldFault[];
}

export interface FieldFault {
  readonly line: number;
  readonly field: string;
  readonly given?: string;
  readonly expected: string;
}

/** The check of records of one type against its entry in the record table, which fills in what they leave out. */
export function recordCheck(type: RecordType): (raw: RawRecord) => CheckedRecord {
  const definition = definitionOf(type);
  const names = fieldsOf(type);
  const required = new Set(requiredFields(definition));
  const { embeds, identity, defaults = {}, rules = [] } = definition;
  const checks: ReadonlyMap<string, FieldCheck> = new Map(
    Object.entries(definition.schema.properties).map(([name, schema]) => [
      name,
      name === embeds ? embeddedCheck("itemid") : fieldCheck(schema),
    ]),
  );

  /** The values that their fields may hold. */
  const givenBy = ({ fields, textual }: RawRecord, faults: FieldFault[]) => {
    const given: Record<string, unknown> = {};
    for (const [field, { value: written, line }] of fields) {
      const check = checks.get(field);
      if (check === undefined) {
        faults.push({ line, ...unknownField(field, names) });
        continue;
      }
      // Null says that there is no value; whether the record can do without is seen when it is filled in.
      if (written === null || (textual && written === "")) continue;
      const asText = textual || (check.isTime && typeof written === "string");
      const value = asText ? check.fromText(exactText(String(written))) : written;
      if (check.accepts(value)) given[field] = field === embeds ? embeddedId(value) : value;
      else faults.push({ line, field, given: givenText(written), expected: check.expected });
    }
    return given;
  };

  /** The record with all its fields in the order in which they are served, but those at fault. */
  const filled = (raw: RawRecord, given: StoredRecord, faults: FieldFault[]) => {
    const record: Record<string, unknown> = {};
    // Defaults follow from given fields wherever they stand, and from the defaults before them.
    const known: Record<string, unknown> = { ...given };
    const faulty = new Set(faults.map(({ field }) => field));
    for (const field of names) {
      if (faulty.has(field)) continue;
      let value = given[field];
      if (value === undefined && required.has(field)) {
        const expected = `${checks.get(field)?.expected} expected, none is given`;
        faults.push({ line: lineOf(raw, field), field, expected });
        continue;
      }
      if (value === undefined) {
        value = defaults[field] === undefined ? null : defaults[field](known);
        if (value === undefined) continue;
        known[field] = value;
      }
      record[field] = value;
    }
    return record;
  };

  return (raw) => {
    const faults: FieldFault[] = [];
    const record = filled(raw, givenBy(raw, faults), faults);
    for (const { field, expected: expectedBy } of rules) {
      const value = record[field];
      const expected = value === null || value === undefined ? undefined : expectedBy(value, record);
      if (expected !== undefined)
        faults.push({ line: lineOf(raw, field), field, given: givenText(value), expected });
    }
    const identified = identity.every((name) => !faults.some(({ field }) => field === name));
    return { record, identity: identified ? identityOf(type, record) : undefined, faults };
  };
}

/** The fields that an import must give: those that say which record it is, and what can't be told without. */
export function requiredFields({ schema, identity, required = [] }: RecordDefinition): string[] {
  const identifying = identity.filter((field) => {
    const of = schema.properties[field];
    return of !== undefined && !isNullable(of);
  });
  return [...identifying, ...required];
}

/** The number or name that stands for an embedded record. */
function embeddedId(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)["itemid"] : value;
}
