import { printParseErrorCode, visit } from "jsonc-parser";
import { givenText } from "./fault.ts";
import { UnreadableFile } from "./text-blocks.ts";

/** Receiver of the parts of a JSON text. `depth` counts the containers around a part. */
export interface JsonReader {
  open(kind: "{" | "[", depth: number, offset: number, line: number): void;
  close(depth: number, end: number): void;
  property(name: string, depth: number, line: number): void;
  literal(value: unknown, depth: number, line: number): void;
}

/** Walks through a JSON text whose first line is `firstLine` of its file. Throws UnreadableFile where it is no JSON. */
export function walkJson(text: string, firstLine: number, reader: JsonReader): void {
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

const depth_max = 64;
