import { printParseErrorCode, visit } from "jsonc-parser";
import { nearest } from "../nearest.ts";
import { isRecordType, type RecordType, recordTypes } from "../records/record-table.ts";
import { givenText, shortName } from "./fault.ts";
import type { RawReceiver } from "./raw-record.ts";
import { type TextBlock, UnreadableFile } from "./text-blocks.ts";

/**
 * Hands over the records of a JSON document `{"items": [{…}, …], …}`, each with the lines that its values stand
 * on. Throws UnreadableFile where the text is no JSON.
 */
export function jsonRecords(text: string, receiver: RawReceiver): void {
  walk(text, 1, new DocumentReader(text, receiver));
}

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
  const reader = new LineReader(text, line, receiver);
  try {
    walk(text, line, reader);
  } catch (thrown) {
    if (!(thrown instanceof UnreadableFile)) throw thrown;
    receiver.fault(thrown.line, { expected: thrown.expected });
    return;
  }
  reader.deliver();
}

/** What a walk through JSON meets. `depth` counts the containers around it. */
interface JsonReader {
  open(kind: "{" | "[", depth: number, offset: number, line: number): void;
  close(depth: number, end: number): void;
  property(name: string, depth: number, line: number): void;
  literal(value: unknown, depth: number, line: number): void;
}

function walk(text: string, firstLine: number, reader: JsonReader): void {
  let depth = 0;
  const open = (kind: "{" | "[", offset: number, line: number) => {
    reader.open(kind, depth, offset, firstLine + line);
    depth += 1;
    if (depth > depth_max) throw new UnreadableFile(firstLine + line, "brackets nested less deeply expected");
  };
  const close = (end: number) => {
    depth -= 1;
    reader.close(depth, end);
  };
  visit(
    text,
    {
      onObjectBegin: (offset, _, line) => open("{", offset, line),
      onArrayBegin: (offset, _, line) => open("[", offset, line),
      onObjectEnd: (offset, length) => close(offset + length),
      onArrayEnd: (offset, length) => close(offset + length),
      onObjectProperty: (name, _offset, _length, line) => reader.property(name, depth, firstLine + line),
      onLiteralValue: (value, _offset, _length, line) => reader.literal(value, depth, firstLine + line),
      onError: (error, offset, length, line) => {
        const found = text.slice(offset, offset + Math.max(length, 1));
        // "CommaExpected" and the like, in words.
        const what = printParseErrorCode(error).replace(
          /(?<=[a-z])[A-Z]/g,
          (letter) => ` ${letter.toLowerCase()}`,
        );
        const where = found === "" ? "at the end" : `at ${givenText(found)}`;
        throw new UnreadableFile(firstLine + line, `this is no JSON: ${what.toLowerCase()} ${where}`);
      },
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  );
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

  deliver(type: RecordType, receiver: RawReceiver): void {
    const { names, values, lines, line } = this;
    receiver.record({ type, line, names, values, textual: false, lineOf: (index) => lines[index] ?? line });
  }
}

/** Reads `{"items": [{…}]}`: records begin inside two containers. */
class DocumentReader implements JsonReader {
  readonly #text: string;
  readonly #receiver: RawReceiver;
  /** The key that the current array belongs to; undefined where it is none of ours. */
  #type: RecordType | undefined;
  readonly #seen = new Set<string>();
  #record: RecordFields | undefined;

  constructor(text: string, receiver: RawReceiver) {
    this.#text = text;
    this.#receiver = receiver;
  }

  open(kind: "{" | "[", depth: number, offset: number, line: number): void {
    if (depth === 0 && kind !== "{")
      this.#receiver.fault(line, { expected: `an object ${documentForm} expected` });
    else if (depth === 1 && kind !== "[") this.#notAnArray("an object", line);
    else if (depth === 2 && this.#type !== undefined) {
      if (kind === "{") this.#record = new RecordFields(line, this.#text);
      else this.#notARecord("an array", line);
    } else if (depth === 3) this.#record?.open(offset, line);
  }

  close(depth: number, end: number): void {
    if (depth === 3) this.#record?.close(end);
    else if (depth === 2 && this.#type !== undefined) {
      this.#record?.deliver(this.#type, this.#receiver);
      this.#record = undefined;
    }
  }

  property(name: string, depth: number, line: number): void {
    if (depth === 1) this.#key(name, line);
    else if (depth === 3) this.#record?.property(name, line, this.#receiver);
  }

  literal(value: unknown, depth: number, line: number): void {
    if (depth === 0) this.#receiver.fault(line, { expected: `an object ${documentForm} expected` });
    else if (depth === 1) this.#notAnArray(givenText(value), line);
    else if (depth === 2) this.#notARecord(givenText(value), line);
    else if (depth === 3) this.#record?.value(value, line);
  }

  #key(name: string, line: number): void {
    this.#type = isRecordType(name) ? name : undefined;
    if (this.#type === undefined) this.#receiver.fault(line, unknownRecord(name));
    else if (this.#seen.has(this.#type)) {
      this.#receiver.fault(line, { type: this.#type, expected: "the key stands here for the second time" });
    }
    this.#seen.add(name);
  }

  #notAnArray(given: string, line: number): void {
    if (this.#type !== undefined)
      this.#receiver.fault(line, { type: this.#type, given, expected: "an array" });
    this.#type = undefined;
  }

  #notARecord(given: string, line: number): void {
    if (this.#type !== undefined)
      this.#receiver.fault(line, { type: this.#type, given, expected: "an object" });
  }
}

/** Reads `{"record": "items", …}`: the line itself is the record. */
class LineReader implements JsonReader {
  readonly #receiver: RawReceiver;
  readonly #line: number;
  readonly #record: RecordFields;
  #isObject = false;

  constructor(text: string, line: number, receiver: RawReceiver) {
    this.#receiver = receiver;
    this.#line = line;
    this.#record = new RecordFields(line, text);
  }

  open(kind: "{" | "[", depth: number, offset: number, line: number): void {
    if (depth === 0) this.#isObject = kind === "{";
    else if (depth === 1 && this.#isObject) this.#record.open(offset, line);
  }

  close(depth: number, end: number): void {
    if (depth === 1 && this.#isObject) this.#record.close(end);
  }

  property(name: string, depth: number, line: number): void {
    if (depth === 1) this.#record.property(name, line, this.#receiver);
  }

  literal(value: unknown, depth: number, line: number): void {
    if (depth === 1 && this.#isObject) this.#record.value(value, line);
  }

  deliver(): void {
    if (!this.#isObject) {
      this.#receiver.fault(this.#line, {
        expected: 'an object {"record": "items", …} expected in each line',
      });
      return;
    }
    const { names, values } = this.#record;
    const at = names.indexOf("record");
    const type = values[at];
    if (at === -1) {
      this.#receiver.fault(this.#line, { expected: 'there is no field "record" that says what the line is' });
    } else if (typeof type !== "string" || !isRecordType(type)) {
      this.#receiver.fault(this.#line, unknownRecord(String(type)));
    } else {
      for (const list of [names, values, this.#record.lines]) list.splice(at, 1);
      this.#record.deliver(type, this.#receiver);
    }
  }
}

function unknownRecord(name: string): { given: string; expected: string } {
  const meant = nearest(name, recordTypes);
  return {
    given: givenText(name),
    expected: meant === undefined ? `one of ${recordTypes.join(", ")}` : `the record ${meant}`,
  };
}

const documentForm = '{"items": […], "subjects": […], …}';
const depth_max = 64;
