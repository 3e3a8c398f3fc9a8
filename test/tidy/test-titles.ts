import { join } from "node:path";
import { root } from "../../testbed/source-files.ts";

/** Where a document names a test, and what is wrong with that: the file is not there, it has no such title, or that is no test that runs. */
export async function faultOfTest(file: string, title: string): Promise<string | undefined> {
  const source = Bun.file(join(root, file));
  if (!(await source.exists())) return `${file}, which is not there`;
  const calls = callsWith(title, await source.text());
  if (calls.length === 0) return `no test of ${file}: ${title}`;
  return calls.some(isRun) ? undefined : `what is no test, or one that never runs: ${title}`;
}

/** The calls whose first argument is this text, up to it: `test`, `test.each(cases)`. In the text, `…` stands for what differs from case to case. */
export function callsWith(title: string, source: string): string[] {
  const parts = title.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  const literal = new RegExp(`\\(\\s*["\`]${parts.join('[^"`]*')}["\`]\\s*,`, "g");
  return [...source.matchAll(literal)].map(({ index }) => {
    const before = source.slice(0, index);
    // Of a call over several lines the first begins with its name.
    return before.slice([...before.matchAll(/^.*\b(?:test|describe)\b/gm)].at(-1)?.index).trim();
  });
}

export function isRun(call: string): boolean {
  return /^test\b/.test(call) && !/^test\.(skip|todo|failing)\b/.test(call);
}
