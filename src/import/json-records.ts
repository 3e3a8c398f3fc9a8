import { nearest } from "../nearest.ts";
import { isRecordType, type RecordType, recordTypes } from "../records/record-table.ts";
import { givenText, shortName } from "./fault.ts";
import { type JsonReader, walkJson } from "./json-walk.ts";
import type { RawReceiver } from "./raw-record.ts";
import { type TextBlock, UnreadableFile } from "./text-blocks.ts";

/** Hands over the records of NDJSON, `{"record": "items", …}` a line; yields after each block. */
export async function* ndjsonRecords(
  blocks: AsyncIterable<TextBlock>,
  receiver: RawReceiver,
): AsyncGenerator<void> {
  for await (const block of blocks) {
    let line = block.line;
    for (const text of block.text.split("\n")) {
      if (text.trim() !== "") readLine(text, line, receiver);
      line += 1;
    }
    yield;
  }
}

/** One line of NDJSON; the next is read whatever is wrong with it. */
function readLine(text: string, line: number, receiver: RawReceiver): void {
  const reader = new ObjectReader(text, line, receiver);
  try {
    walkJson(text, line, reader);
  } catch (thrown) {
    if (!(thrown instanceof UnreadableFile)) throw thrown;
    receiver.fault(thrown.line, { expected: thrown.expected });
    return;
  }
  if (!reader.isObject) {
    receiver.fault(line, { expected: 'an object {"record": "items", …} expected in each line' });
    return;
  }
  const type = reader.record.taken("record");
  if (type === undefined) {
    receiver.fault(line, { expected: 'there is no field "record" that says what the line is' });
  } else if (typeof type !== "string" || !isRecordType(type))
    receiver.fault(line, unknownRecord(String(type)));
  else reader.record.deliver(type, receiver);
}

/** Hands over the record that a JSON text is, which begins on `line`. Throws UnreadableFile where it is no JSON. */
export function readRecord(type: RecordType, text: string, line: number, receiver: RawReceiver): void {
  const reader = new ObjectReader(text, line, receiver);
  walkJson(text, line, reader);
  reader.record.deliver(type, receiver);
}

/** The fault of a record name that there is none of, with the one that was probably meant. */
export function unknownRecord(name: string): { given: string; expected: string } {
  const meant = nearest(name, recordTypes);
  return {
    given: givenText(name),
    expected: meant === undefined ? `one of ${recordTypes.join(", ")}` : `the record ${meant}`,
  };
}

/** The fields of one record, as they are met. */
class RecordFields {
  readonly names: string[] = [];
  readonly values: unknown[] = [];
  readonly lines: number[] = [];
  /** Where the object or array begins that is the value of the last name. */
  #nested: number | undefined;

  constructor(
    readonly line: number,
    readonly text: string,
  ) {}

  /** The value of the name comes next. Which of two values was meant nobody can tell: that is a fault. */
  property(name: string, line: number, receiver: RawReceiver): void {
    const before = this.names.indexOf(name);
    if (before !== -1) {
      const expected = `stands twice in one record, first in line ${this.lines[before]}`;
      receiver.fault(line, { field: shortName(name), expected });
    }
    this.names.push(name);
    this.lines.push(line);
  }

  value(value: unknown, line: number): void {
    this.values[this.names.length - 1] = value;
    this.lines[this.names.length - 1] = line;
  }

  open(offset: number, line: number): void {
    this.#nested = offset;
    this.lines[this.names.length - 1] = line;
  }

  close(end: number): void {
    this.values[this.names.length - 1] = JSON.parse(this.text.slice(this.#nested, end));
  }

  /** The value of a field, which then is none of the record's. */
  taken(name: string): unknown {
    const at = this.names.indexOf(name);
    if (at === -1) return undefined;
    const value = this.values[at];
    for (const list of [this.names, this.values, this.lines]) list.splice(at, 1);
    return value;
  }

  deliver(type: RecordType, receiver: RawReceiver): void {
    const { names, values, lines, line } = this;
    receiver.record({ type, line, names, values, textual: false, lineOf: (index) => lines[index] ?? line });
  }
}

/** Reads the object that a text is. */
class ObjectReader implements JsonReader {
  readonly record: RecordFields;
  isObject = false;
  readonly #receiver: RawReceiver;

  constructor(text: string, line: number, receiver: RawReceiver) {
    this.#receiver = receiver;
    this.record = new RecordFields(line, text);
  }

  open(kind: "{" | "[", depth: number, offset: number, line: number): void {
    if (depth === 0) this.isObject = kind === "{";
    else if (depth === 1 && this.isObject) this.record.open(offset, line);
  }

  close(depth: number, end: number): void {
    if (depth === 1 && this.isObject) this.record.close(end);
  }

  property(name: string, depth: number, line: number): void {
    if (depth === 1) this.record.property(name, line, this.#receiver);
  }

  literal(value: unknown, depth: number, line: number): void {
    if (depth === 1 && this.isObject) this.record.value(value, line);
  }
}
