import {
  definitionOf,
  fieldsOf,
  identityOf,
  type RecordType,
  type StoredRecord,
} from "../records/record-table.ts";
import { givenText } from "./fault.ts";
import { embeddedCheck, type FieldCheck, fieldCheck, valuesText } from "./field-check.ts";
import type { RawRecord } from "./raw-record.ts";
import { requiredFields } from "./required-fields.ts";
import { unknownField } from "./unknown-field.ts";

/** The result of checking one record. */
export interface CheckedRecord {
  /** The record with every field in its place; what of it is at fault is absent. */
  readonly record: StoredRecord;
  /** Which record it is; undefined where that is at fault. */
  readonly identity: string | undefined;
  readonly sound: boolean;
}

type Report = (line: number, fault: { field: string; given?: string; expected: string }) => void;

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

  check(raw: RawRecord, report: Report): CheckedRecord {
    const given: Record<string, unknown> = {};
    const faulty = new Set<string>();
    const fault: Report = (line, { field, ...rest }) => {
      faulty.add(field);
      report(line, { field, ...rest });
    };
    raw.names.forEach((name, index) => {
      this.#take(name, index, raw, given, fault);
    });
    const record = this.#filled(raw, given, faulty, fault);
    this.#obey(raw, record, fault);
    const identified = this.#definition.identity.every((field) => !faulty.has(field));
    return {
      record,
      identity: identified ? identityOf(this.#type, record) : undefined,
      sound: faulty.size === 0,
    };
  }

  /** Puts one value into `given` if it is one that its field may hold. */
  #take(name: string, index: number, raw: RawRecord, given: Record<string, unknown>, fault: Report): void {
    const check = this.#checks.get(name);
    if (check === undefined) {
      fault(raw.lineOf(index), unknownField(name, this.#fields));
      return;
    }
    const written = raw.values[index];
    // Null says that there is no value; whether the record can do without is seen when it is filled in.
    if (written === null || (raw.textual && written === "")) return;
    const value = raw.textual ? check.fromText(String(written)) : written;
    if (check.accepts(value)) given[name] = name === this.#definition.embeds ? embeddedId(value) : value;
    else fault(raw.lineOf(index), { field: name, given: givenText(written), expected: check.expected });
  }

  /** The record with all its fields in the order in which they are served, but those at fault. */
  #filled(
    raw: RawRecord,
    given: Readonly<Record<string, unknown>>,
    faulty: ReadonlySet<string>,
    fault: Report,
  ): StoredRecord {
    const { defaults = {} } = this.#definition;
    const record: Record<string, unknown> = {};
    // Defaults follow from given fields wherever they stand, and from the defaults before them.
    const known: Record<string, unknown> = { ...given };
    for (const field of this.#fields) {
      if (faulty.has(field)) continue;
      let value = given[field];
      if (value === undefined) {
        if (this.#required.has(field)) {
          const at = raw.names.indexOf(field);
          fault(at === -1 ? raw.line : raw.lineOf(at), {
            field,
            expected: `${this.#expected(field)} expected, none is given`,
          });
          continue;
        }
        value = defaults[field] === undefined ? null : defaults[field](known);
        if (value === undefined) continue;
        known[field] = value;
      }
      record[field] = value;
    }
    return record;
  }

  /** Looks at the rules that hold between fields. */
  #obey(raw: RawRecord, record: StoredRecord, fault: Report): void {
    for (const { field, allowed } of this.#definition.rules ?? []) {
      const value = record[field];
      if (typeof value !== "string") continue;
      const values = allowed(record);
      if (values === undefined || values.includes(value)) continue;
      const at = raw.names.indexOf(field);
      fault(raw.lineOf(at), { field, given: givenText(value), expected: valuesText(values) });
    }
  }

  #expected(field: string): string {
    return this.#checks.get(field)?.expected ?? "a value";
  }
}

/** The number or name that stands for an embedded record. */
function embeddedId(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)["itemid"] : value;
}
