import { expect, test } from "bun:test";
import { backup_bytes_max, backups_bytes_max, backups_max } from "../../src/store/central/central-store.ts";
import {
  bodyOfFiles,
  FilesFault,
  filesInBody,
  type HomeFiles,
  keepFiles,
} from "../../src/transfer/kept-files.ts";

/** A central that keeps files in memory. */
function keeping() {
  const kept = new Map<string, Uint8Array>();
  const store = {
    backups: async () => new Map(kept) as never,
    putBackup: async (_: number, name: string, content: Uint8Array) => void kept.set(name, content),
  };
  return { kept, keep: (files: HomeFiles) => keepFiles(store, 12, files) };
}

const files = (count: number, bytes: number, name = "file") =>
  new Map(Array.from({ length: count }, (_, place) => [`${name}-${place}`, new Uint8Array(bytes)]));

test("a home keeps as many files and bytes as it may, in place of those of their names, and no more", async () => {
  const many = keeping();
  await many.keep(files(backups_max, 1));
  await many.keep(files(backups_max, 2));
  await expect(many.keep(files(1, 1, "one more"))).rejects.toThrow(FilesFault);
  expect([...many.kept.values()].map(({ length }) => length)).toEqual(Array(backups_max).fill(2));
  const large = keeping();
  const count = Math.ceil(backups_bytes_max / backup_bytes_max);
  const each = Math.floor(backups_bytes_max / count);
  await large.keep(files(count, each));
  await expect(large.keep(files(1, backups_bytes_max - count * each + 1, "one more"))).rejects.toThrow(
    FilesFault,
  );
  expect(large.kept.size).toBe(count);
});

test("a file that travels is the same, and none is larger than one may be", () => {
  const sent = bodyOfFiles(new Map([["a", Uint8Array.of(0, 255)]]));
  expect(filesInBody(sent).get("a")).toEqual(Uint8Array.of(0, 255));
  const large = bodyOfFiles(files(1, backup_bytes_max + 1));
  expect(() => filesInBody(large)).toThrow("has more than");
  expect(() => filesInBody({ files: { a: "no base64!" } })).toThrow("a is not base64");
});
