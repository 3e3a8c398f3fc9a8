/**
 * The ledger of a programme, on the publisher's own disk: the packages that it has published, and the only input of what is signed. The folder that the web server serves is output, and nothing
 * is ever read back from it but to see whether another hand has changed it.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { Release, type ReleasePackage } from "../../src/gateway/update/releases.ts";

const Keys = Type.Object({
  threshold: Type.Integer({ minimum: 1 }),
  keys: Type.Array(Type.Object({ id: Type.String(), public: Type.String() }), { minItems: 1 }),
});
const Digests = Type.Record(Type.String(), Type.String());

const LedgerFile = Type.Object({
  format: Type.Literal("lintel releases 1"),
  /** The folder that is served. */
  folder: Type.String(),
  /** Who signs for a role: root, targets, snapshot, timestamp, and one for each ring. */
  roles: Type.Record(Type.String(), Keys),
  releases: Type.Array(Release),
  /** SHA-256 of each file of the folder as it was written last, by its path there. */
  published: Digests,
  /** The same of what is being written now; absent once it is. */
  writing: Type.Optional(Digests),
});
export type LedgerState = Static<typeof LedgerFile>;
export type RoleKeys = Static<typeof Keys>;

export class Ledger {
  readonly directory: string;
  state: LedgerState;

  private constructor(directory: string, state: LedgerState) {
    this.directory = directory;
    this.state = state;
  }

  /** One that is not on the disk before it is saved. */
  static create(directory: string, state: LedgerState): Ledger {
    return new Ledger(directory, state);
  }

  static open(directory: string): Ledger {
    const path = join(directory, fileName);
    if (!existsSync(path)) throw new Error(`${directory} holds no ledger: ./scripts/release init makes one`);
    const found: unknown = JSON.parse(readFileSync(path, "utf8"));
    if (!Value.Check(LedgerFile, found)) {
      const fault = Value.Errors(LedgerFile, found).First();
      throw new Error(`${path} is no ledger (${fault?.path} ${fault?.message})`);
    }
    return new Ledger(directory, found);
  }

  /** Its own copy of a package. */
  packagePath(file: string): string {
    return join(this.directory, "packages", file);
  }

  /** The package that was made of another one, for boxes that have its Bun. Its name is its digest, as a package of a known name may be refused. */
  withoutBunPath({ sha256 }: ReleasePackage): string {
    return this.packagePath(`without-bun-${sha256}.deb`);
  }

  /** Its own copies of all packages, each with what was signed of it. */
  packages(): { readonly release: Release; readonly of: ReleasePackage; readonly path: string }[] {
    return this.state.releases.flatMap((release) => {
      const { file, without_bun } = release;
      return [
        { release, of: release, path: this.packagePath(file) },
        ...(without_bun ? [{ release, of: without_bun, path: this.withoutBunPath(without_bun) }] : []),
      ];
    });
  }

  /** Its own copy of what was signed. */
  get metadata(): string {
    return join(this.directory, "metadata");
  }

  save(): void {
    writeWhole(join(this.directory, fileName), `${JSON.stringify(this.state, null, 2)}\n`);
  }

  /** @throws with the name of a package that is not the one that was added */
  checkPackages(): void {
    for (const { path, of } of this.packages()) {
      if (!existsSync(path))
        throw new Error(`${path} is gone: put the package back, or withdraw its version`);
      if (digestOf(path) !== of.sha256)
        throw new Error(
          `${path} is not the package that was added: another hand has changed it. Nothing was signed`,
        );
    }
  }

  /** @throws with the name of a file of the folder that somebody else has changed, added or removed */
  checkFolder(): void {
    const { folder, published, writing } = this.state;
    const there = filesIn(folder);
    // An empty folder is written anew.
    if (there.length === 0) return;
    const refuse = (path: string, what: string) =>
      new Error(
        `${join(folder, path)} ${what} by another hand since it was written. Nothing was signed: find out who can write there, empty it, and run this again`,
      );
    for (const path of there) {
      const expected = [published[path], writing?.[path]].filter((digest) => digest !== undefined);
      if (expected.length === 0) throw refuse(path, "was added");
      if (!expected.includes(digestOf(join(folder, path)))) throw refuse(path, "was changed");
    }
    if (writing === undefined)
      for (const path of Object.keys(published))
        if (!existsSync(join(folder, path))) throw refuse(path, "was removed");
  }

  /** Writes the folder: packages first, what names them last. A run that is cut off is done again. */
  publish(files: ReadonlyMap<string, { from: string }>): void {
    const { folder } = this.state;
    const writing = Object.fromEntries([...files].map(([path, { from }]) => [path, digestOf(from)]));
    this.state = { ...this.state, writing };
    this.save();
    for (const [path, { from }] of files) {
      const to = join(folder, path);
      if (!existsSync(to) || digestOf(to) !== writing[path]) writeWhole(to, readFileSync(from));
    }
    for (const path of filesIn(folder)) if (writing[path] === undefined) rmSync(join(folder, path));
    const { writing: _, ...rest } = this.state;
    this.state = { ...rest, published: writing };
    this.save();
  }
}

/** The files of a published folder, as paths in it: of the two directories that are this program's. */
function filesIn(folder: string): string[] {
  return ["metadata", "targets"].flatMap((part) => {
    const directory = join(folder, part);
    if (!existsSync(directory)) return [];
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.isDirectory())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  });
}

export function digestOf(path: string): string {
  return createHash("sha256").update(readFileSync(path)).digest("hex");
}

/** Writes a file that is there wholly or not at all, also after a power cut. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(`${path}.new`, content, { flush: true });
  renameSync(`${path}.new`, path);
  const directory = openSync(dirname(path), "r");
  fsyncSync(directory);
  closeSync(directory);
}

const fileName = "ledger.json";
