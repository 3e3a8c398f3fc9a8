import { readFileSync } from "node:fs";

/** A call that changed a disk or brought it to the medium, as `nth record` wrote it down. `path` is below the recorded directory. */
export type Call = { readonly at_ms: number; readonly path: string } & (
  | { readonly kind: "write"; readonly from: number; readonly bytes: Uint8Array }
  | { readonly kind: "truncate"; readonly bytes: number }
  | { readonly kind: "open"; readonly creates: boolean; readonly empties: boolean }
  | { readonly kind: "rename"; readonly from: string }
  | { readonly kind: "sync" | "unlink" | "mkdir" }
);

/** The calls of a recording, in order, but for those of the log's index: it is made anew at every start. @throws where there is one that it does not know */
export function readRecording(file: string, directory: string): Call[] {
  const bytes = readFileSync(file);
  const calls: Call[] = [];
  let at = 0;
  const below = (path: string) => path.slice(directory.length).replace(/^\/+/, "");
  while (at < bytes.length) {
    const end = bytes.indexOf(0x0a, at);
    const [kind = "", ms, first, second, path = "", other = ""] = bytes.toString("utf8", at, end).split("\t");
    at = end + 1;
    const called = { at_ms: Number(ms), path: below(path) };
    if (kind === "write") {
      const written = {
        ...called,
        kind,
        from: Number(first),
        bytes: bytes.subarray(at, at + Number(second)),
      } as const;
      at += Number(second) + 1;
      if (!isForgotten(path)) calls.push(written);
    } else if (isForgotten(path)) continue;
    else if (kind === "truncate") calls.push({ ...called, kind, bytes: Number(first) });
    else if (kind === "open")
      calls.push({
        ...called,
        kind,
        creates: (Number(first) & o_creat) !== 0,
        empties: (Number(first) & o_trunc) !== 0,
      });
    else if (kind === "rename") calls.push({ ...called, kind, from: below(other) });
    else if (kind === "sync" || kind === "unlink" || kind === "mkdir") calls.push({ ...called, kind });
    else throw new Error(`${file} has ${kind} of ${path}`);
  }
  return calls;
}

/** The index of a write-ahead log, and files that nobody can find any more. */
const isForgotten = (path: string) => path.endsWith("-shm") || path.endsWith(" (deleted)");

const o_creat = 0o100;
const o_trunc = 0o1000;
