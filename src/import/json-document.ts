import { isRecordType, type RecordType } from "../records/record-table.ts";
import { givenText } from "./fault.ts";
import { readRecord, unknownRecord } from "./json-records.ts";
import { type JsonReader, walkJson } from "./json-walk.ts";
import type { RawReceiver } from "./raw-record.ts";
import { type TextBlock, UnreadableFile } from "./text-blocks.ts";

/**
 * Hands over the records of a JSON document `{"items": [{…}, …], …}`, each with the lines that its values stand
 * on; yields after each block. Throws UnreadableFile where the text is no JSON.
 *
 * Records are cut out where their braces begin and end, and read one by one; what is left is the document's
 * outline, small enough to be looked at as a whole.
 */
export async function* jsonRecords(
  blocks: AsyncIterable<TextBlock>,
  receiver: RawReceiver,
): AsyncGenerator<void> {
  const cutter = new DocumentCutter(receiver);
  for await (const block of blocks) {
    cutter.feed(block.text);
    yield;
  }
  walkJson(cutter.outline(), 1, new OutlineReader(receiver));
}

class DocumentCutter {
  readonly #receiver: RawReceiver;
  /** The outline of the blocks before, each a text of its own, and the pieces of this block's. */
  readonly #blocks: string[] = [];
  #pieces: string[] = [];
  #outlineLength = 0;
  /** The end of the outline, between two arrays: a key may come in more than one block. */
  #latest = "";
  #depth = 0;
  #inString = false;
  #escaped = false;
  #line = 1;
  /** Type of the objects in the current array; undefined where they are not records. */
  #type: RecordType | undefined;
  /** The record under way, as far as it came in earlier blocks. */
  #record: { text: string; readonly line: number } | undefined;

  constructor(receiver: RawReceiver) {
    this.#receiver = receiver;
  }

  feed(text: string): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === newline) this.#line += 1;
      if (this.#inString) this.#withinString(code);
      else if (code === quote) this.#inString = true;
      else if (code === openBrace || code === openBracket) {
        if (this.#depth === 1)
          this.#type = code === openBracket ? this.#keyBefore(text.slice(from, at)) : undefined;
        else if (this.#depth === 2 && code === openBrace && this.#type !== undefined) {
          this.#keep(text.slice(from, at));
          from = at;
          this.#record = { text: "", line: this.#line };
        }
        this.#depth += 1;
      } else if (code === closeBrace || code === closeBracket) {
        this.#depth -= 1;
        if (this.#depth === 2 && this.#record !== undefined) {
          this.#cut(text.slice(from, at + 1));
          from = at + 1;
        }
      }
    }
    this.#keep(text.slice(from));
    // Joined, because a slice keeps the whole block it was cut from in memory.
    this.#blocks.push([...this.#pieces, ""].join(""));
    this.#pieces = [];
  }

  /** The document with `{}` for every record and as many lines as it has; whatever is open at its end is whole. */
  outline(): string {
    return this.#blocks.join("") + (this.#record?.text ?? "");
  }

  #withinString(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (code === backslash) this.#escaped = true;
    else if (code === quote) this.#inString = false;
  }

  /** The record type whose name stands before the bracket that opens now. */
  #keyBefore(text: string): RecordType | undefined {
    const before = this.#latest + text;
    const name = /"(\w+)"\s*:\s*$/.exec(before)?.[1] ?? "";
    return isRecordType(name) ? name : undefined;
  }

  #keep(text: string): void {
    if (this.#record === undefined) {
      this.#pieces.push(text);
      this.#outlineLength += text.length;
      this.#latest = this.#depth <= 1 ? (this.#latest + text).slice(-key_length_max) : "";
    } else this.#record.text += text;
    if (this.#outlineLength > outline_length_max || (this.#record?.text.length ?? 0) > record_length_max) {
      throw new UnreadableFile(this.#line, "braces and quotes that close expected, this goes on without end");
    }
  }

  #cut(rest: string): void {
    const { text, line } = this.#record ?? { text: "", line: this.#line };
    this.#record = undefined;
    this.#keep(`{}${"\n".repeat(this.#line - line)}`);
    if (this.#type !== undefined) readRecord(this.#type, text + rest, line, this.#receiver);
  }
}

/** Checks the parts of the document outside the records. */
class OutlineReader implements JsonReader {
  readonly #receiver: RawReceiver;
  /** The key that the current array belongs to; undefined where it is none of ours. */
  #type: RecordType | undefined;
  readonly #seen = new Set<string>();

  constructor(receiver: RawReceiver) {
    this.#receiver = receiver;
  }

  open(kind: "{" | "[", depth: number, _offset: number, line: number): void {
    if (depth === 0 && kind !== "{") this.#notADocument(line);
    else if (depth === 1 && kind !== "[") this.#notAnArray("an object", line);
    else if (depth === 2 && kind !== "{") this.#notARecord("an array", line);
  }

  close(): void {
    // Nothing to do: each later value tells its depth itself.
  }

  property(name: string, depth: number, line: number): void {
    if (depth !== 1) return;
    this.#type = isRecordType(name) ? name : undefined;
    if (this.#type === undefined) this.#receiver.fault(line, unknownRecord(name));
    else if (this.#seen.has(this.#type)) {
      this.#receiver.fault(line, { type: this.#type, expected: "the key stands here for the second time" });
    }
    this.#seen.add(name);
  }

  literal(value: unknown, depth: number, line: number): void {
    if (depth === 0) this.#notADocument(line);
    else if (depth === 1) this.#notAnArray(givenText(value), line);
    else if (depth === 2) this.#notARecord(givenText(value), line);
  }

  #notADocument(line: number): void {
    this.#receiver.fault(line, { expected: 'an object {"items": […], "subjects": […], …} expected' });
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

const newline = 0x0a;
const quote = 0x22;
const backslash = 0x5c;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const openBrace = 0x7b;
const closeBrace = 0x7d;
/** Longer than any key of a record with the spaces around it. */
const key_length_max = 1_000;
const outline_length_max = 67_108_864;
const record_length_max = 4_194_304;
