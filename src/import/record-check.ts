import {
  definitionOf,
  fieldsOf,
  identityOf,
  type RecordDefinition,
  type RecordType,
  type StoredRecord,
} from "../records/record-table.ts";
import { givenText, unknownField } from "./fault.ts";
import { embeddedCheck, type FieldCheck, fieldCheck, isNullable, valuesText } from "./field-check.ts";
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

/** Checks records of one type against its entry in the record table, and fills in what they leave out. */
export class RecordCheck {
  readonly #type: RecordType;
  readonly #definition;
  readonly #fields: readonly string[];
  readonly #checks: ReadonlyMap<string, FieldCheck>;
  readonly #required: ReadonlySet<string>;

  constructor(type: RecordType) {
    this.#type = type;
    this.#definition = definitionOf(type);
    this.#fields = fieldsOf(type);
    this.#required = new Set(requiredFields(this.#definition));
    this.#checks = new Map(
      Object.entries(this.#definition.schema.properties).map(([name, schema]) => [
        name,
        name === this.#definition.embeds ? embeddedCheck("itemid") : fieldCheck(schema),
      ]),
    );
  }

  check(raw: RawRecord): CheckedRecord {
    const faults: FieldFault[] = [];
    const given = this.#given(raw, faults);
    const record = this.#filled(raw, given, faults);
    this.#obey(raw, record, faults);
    const sound = this.#definition.identity.every((name) => !faults.some(({ field }) => field === name));
    return { record, identity: sound ? identityOf(this.#type, record) : undefined, faults };
  }

  /** The values that their fields may hold. */
  #given({ fields, textual }: RawRecord, faults: FieldFault[]): Record<string, unknown> {
    const given: Record<string, unknown> = {};
    for (const [field, { value: written, line }] of fields) {
      const check = this.#checks.get(field);
      if (check === undefined) {
        faults.push({ line, ...unknownField(field, this.#fields) });
        continue;
      }
      // Null says that there is no value; whether the record can do without is seen when it is filled in.
      if (written === null || (textual && written === "")) continue;
      const value = textual ? check.fromText(String(written)) : written;
      if (check.accepts(value)) given[field] = field === this.#definition.embeds ? embeddedId(value) : value;
      else faults.push({ line, field, given: givenText(written), expected: check.expected });
    }
    return given;
  }

  /** The record with all its fields in the order in which they are served, but those at fault. */
  #filled(
    raw: RawRecord,
    given: Readonly<Record<string, unknown>>,
    faults: FieldFault[],
  ): Record<string, unknown> {
    const { defaults = {} } = this.#definition;
    const record: Record<string, unknown> = {};
    // Defaults follow from given fields wherever they stand, and from the defaults before them.
    const known: Record<string, unknown> = { ...given };
    const faulty = new Set(faults.map(({ field }) => field));
    for (const field of this.#fields) {
      if (faulty.has(field)) continue;
      let value = given[field];
      if (value === undefined && this.#required.has(field)) {
        const expected = `${this.#checks.get(field)?.expected} expected, none is given`;
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
  }

  /** Looks at the rules that hold between fields. */
  #obey(raw: RawRecord, record: StoredRecord, faults: FieldFault[]): void {
    for (const { field, allowed } of this.#definition.rules ?? []) {
      const value = record[field];
      if (typeof value !== "string") continue;
      const values = allowed(record);
      if (values === undefined || values.includes(value)) continue;
      faults.push({
        line: lineOf(raw, field),
        field,
        given: givenText(value),
        expected: valuesText(values),
      });
    }
  }
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
