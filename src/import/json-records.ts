import { printParseErrorCode, visit } from "jsonc-parser";
import { nearest } from "../base/text.ts";
import { isRecordType, type RecordType, recordTypes } from "../domain/records/record-table.ts";
import {
  givenText,
  type RawReceiver,
  type RawValue,
  shortName,
  type TextBlock,
  UnreadableFile,
} from "./record-files.ts";

/**
 * Hands over the records of a JSON document `{"items": [{…}, …], …}`, each with the lines that its values stand on.
 * Throws UnreadableFile where the text is no JSON.
 */
export function jsonRecords(text: string, receiver: RawReceiver): void {
  /** The key that the present array belongs to; undefined where it is none of ours. */
  let type: RecordType | undefined;
  const seen = new Set<string>();
  visitRecords(text, 1, document_depth, {
    key: (name, line) => {
      type = isRecordType(name) ? name : undefined;
      if (type === undefined) receiver.fault(line, unknownRecord(name));
      else if (seen.has(type)) {
        receiver.fault(line, { record: type, expected: "the key stands here for the second time" });
      }
      seen.add(name);
    },
    value: (given, depth, line) => {
      if (depth === 0 && given !== "an object") {
        receiver.fault(line, { expected: 'an object {"items": […], "subjects": […], …} expected' });
      } else if (depth === 1 && given !== "an array") {
        if (type !== undefined) receiver.fault(line, { record: type, given, expected: "an array" });
        type = undefined;
      } else if (depth === document_depth && type !== undefined) {
        receiver.fault(line, { record: type, given, expected: "an object" });
      }
    },
    twice: (line, fault) => {
      if (type !== undefined) receiver.fault(line, fault);
    },
    record: (fields, line, end) => {
      if (type === undefined) return;
      receiver.record({ type, line, fields, textual: false });
      receiver.progress(end);
    },
  });
}

/** Hands over the records of NDJSON, `{"record": "items", …}` a line; yields after each block. */
export async function* ndjsonRecords(
  blocks: AsyncIterable<TextBlock>,
  receiver: RawReceiver,
): AsyncGenerator<void> {
  for await (const block of blocks) {
    let line = block.line;
    for (const text of block.text.split("\n")) {
      if (text.trim() !== "") ndjsonRecord(text, line, receiver);
      line += 1;
    }
    yield;
  }
}

/** One line of NDJSON; the next is read whatever is wrong with it. */
function ndjsonRecord(text: string, line: number, receiver: RawReceiver): void {
  const found: Map<string, RawValue>[] = [];
  try {
    visitRecords(text, line, 0, {
      key: () => {},
      value: () => {},
      twice: receiver.fault,
      record: (fields) => found.push(fields),
    });
  } catch (thrown) {
    if (!(thrown instanceof UnreadableFile)) throw thrown;
    receiver.fault(thrown.line, { expected: thrown.expected });
    return;
  }
  const [fields] = found;
  if (fields === undefined) {
    receiver.fault(line, { expected: 'an object {"record": "items", …} expected in each line' });
    return;
  }
  const type = fields.get("record")?.value;
  fields.delete("record");
  if (type === undefined) {
    receiver.fault(line, {
      expected: 'there is no field "record" that says what the line is; of a download, import the CSV',
    });
  } else if (typeof type !== "string" || !isRecordType(type))
    receiver.fault(line, unknownRecord(String(type)));
  else receiver.record({ type, line, fields, textual: false });
}

interface Visitor {
  /** A key of an object outside of the records. */
  key(name: string, line: number): void;
  /** A value outside of the records, or in the place of one; `depth` counts the containers around it. */
  value(given: string, depth: number, line: number): void;
  /** A name that stands twice in one record. */
  twice(line: number, fault: { field: string; expected: string }): void;
  /** A whole record, the line on which it begins, and the character after its end. */
  record(fields: Map<string, RawValue>, line: number, end: number): void;
}

/**
 * Visits the parts of a JSON text whose first line is `firstLine` of its file. Records are the objects with
 * `recordDepth` containers around them. Throws UnreadableFile where the text is no JSON.
 */
function visitRecords(text: string, firstLine: number, recordDepth: number, visitor: Visitor): void {
  let depth = 0;
  let record: { readonly line: number; readonly fields: Map<string, RawValue> } | undefined;
  let field = "";
  /** Where the object or array begins that is the value of the field. */
  let nested = { from: 0, line: 0 };
  const open = (given: "an object" | "an array", from: number, line: number) => {
    if (depth === recordDepth && given === "an object") record = { line, fields: new Map() };
    else if (record === undefined) visitor.value(given, depth, line);
    else if (depth === recordDepth + 1) nested = { from, line };
    depth += 1;
    if (depth > depth_max) throw new UnreadableFile(line, "brackets nested less deeply expected");
  };
  const close = (end: number) => {
    depth -= 1;
    if (record === undefined) return;
    if (depth === recordDepth + 1) {
      record.fields.set(field, { value: JSON.parse(text.slice(nested.from, end)), line: nested.line });
    } else if (depth === recordDepth) {
      visitor.record(record.fields, record.line, end);
      record = undefined;
    }
  };
  visit(
    text,
    {
      onObjectBegin: (offset, _length, line) => open("an object", offset, firstLine + line),
      onArrayBegin: (offset, _length, line) => open("an array", offset, firstLine + line),
      onObjectEnd: (offset, length) => close(offset + length),
      onArrayEnd: (offset, length) => close(offset + length),
      onObjectProperty: (name, _offset, _length, at) => {
        const line = firstLine + at;
        if (record === undefined && depth === 1) visitor.key(name, line);
        if (record === undefined || depth !== recordDepth + 1) return;
        const before = record.fields.get(name);
        if (before !== undefined) {
          const expected = `stands twice in one record, first in line ${before.line}`;
          visitor.twice(line, { field: shortName(name), expected });
        }
        field = name;
      },
      onLiteralValue: (value, _offset, _length, line) => {
        if (record === undefined) visitor.value(givenText(value), depth, firstLine + line);
        else if (depth === recordDepth + 1) record.fields.set(field, { value, line: firstLine + line });
      },
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

/** The fault of a record name that there is none of, with the one that was probably meant. */
function unknownRecord(name: string): { given: string; expected: string } {
  const meant = nearest(name, recordTypes);
  return {
    given: givenText(name),
    expected: meant === undefined ? `one of ${recordTypes.join(", ")}` : `the record ${meant}`,
  };
}

/** The document and the array of the type stand around each record of a document. */
const document_depth = 2;
const depth_max = 64;
