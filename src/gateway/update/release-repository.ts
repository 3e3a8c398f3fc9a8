/**
 * The releases that a programme has published, as a repository of The Update Framework: signed roles that each say something, end at a time, and count up. So a
 * list that was changed, is old, is mixed of several or was signed by a key that counts no more is refused.
 */

import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import type { Fetcher } from "tuf-js";
import type { Clock } from "../../base/clock.ts";
import { freeBytes } from "../../base/disk/disk-fault.ts";
import { parseIfWhole, readIfThere, writeDurably } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { ReleaseRefusalReason } from "../../domain/fleet-home.ts";
import { requestOnce, type Wording } from "../../web/client/http-request.ts";
import {
  digestOf,
  Refused,
  Release,
  type ReleasePackage,
  repositoryAddress,
  targetPathOf,
  WithoutBun,
} from "./releases.ts";

/**
 * The releases of every ring, each with the signatures of its role.
 *
 * @param trusted.directory where what was verified last is kept, so that no older list is taken after it
 * @param trusted.root `release-root.json` of the release that runs: who signs for the programme
 * @throws OperatorError where something cannot be fetched, Refused where it is not what the programme has signed
 */
export async function readRepository(
  source: ReleaseSource,
  trusted: { readonly directory: string; readonly root: string },
): Promise<Release[]> {
  // Nothing but an update loads them.
  const { Updater } = await import("tuf-js");
  const kept = join(trusted.directory, keptName);
  const working = `${kept}.new`;
  rmSync(working, { recursive: true, force: true });
  mkdirSync(working, { recursive: true, mode: 0o755 });
  for (const name of namesIn(kept)) writeFileSync(join(working, name), readFileSync(join(kept, name)));
  writeFileSync(join(working, "root.json"), newestRoot(join(kept, "root.json"), trusted.root));
  const fetcher = new MetadataFetcher(source);
  try {
    const updater = new Updater({
      metadataDir: working,
      metadataBaseUrl: fetcher.base,
      fetcher,
      config: { maxRootRotations: root_rotations_max, maxDelegations: rings_max },
    });
    await updater.refresh();
    const releases: Release[] = [];
    for (const ring of ringsIn(working)) {
      // Asking for any target of a ring has its role fetched, verified and kept.
      await updater.getTargetInfo(`ring-${ring}/none`);
      releases.push(...releasesIn(working, ring));
    }
    return releases;
  } catch (thrown) {
    throw fetcher.fault ?? (thrown instanceof Refused ? thrown : refusalOf(thrown));
  } finally {
    keep(working, kept);
  }
}

/** Brings to disk what was verified: each file wholly or not at all. */
function keep(working: string, kept: string): void {
  mkdirSync(kept, { recursive: true, mode: 0o755 });
  // Who signs comes first: the rest is verified by it.
  for (const name of ["root.json", ...namesIn(working).filter((one) => one !== "root.json")]) {
    const content = readFileSync(join(working, name), "utf8");
    if (parseIfWhole(content) !== undefined && content !== readIfThere(join(kept, name)))
      writeDurably(join(kept, name), content);
  }
  rmSync(working, { recursive: true, force: true });
}

/** The newer of the root that was followed to and that of the release: a package that is installed by hand may bring a newer one. */
function newestRoot(path: string, own: string): string {
  const followed = readIfThere(path);
  return followed !== undefined && versionOf(followed) >= versionOf(own) ? followed : own;
}

function versionOf(root: string): number {
  const found = parseIfWhole(root) as { signed?: { version?: number } } | undefined;
  return found?.signed?.version ?? 0;
}

/** The rings that the verified targets role names. */
function ringsIn(working: string): number[] {
  const { signed } = JSON.parse(readFileSync(join(working, "targets.json"), "utf8")) as {
    signed: { delegations?: { roles?: readonly { name: string }[] } };
  };
  return (signed.delegations?.roles ?? [])
    .flatMap(({ name }) => /^ring-(\d{1,7})$/.exec(name)?.[1] ?? [])
    .map(Number);
}

/**
 * The releases that the verified role of a ring lists. Whatever else a list says is left: had an updater to know all of it, a later release could not tell
 * anything new, and boxes with this one could never take it.
 *
 * @throws Refused where an entry is not one of a release
 */
function releasesIn(working: string, ring: number): Release[] {
  const { signed } = JSON.parse(readFileSync(join(working, `ring-${ring}.json`), "utf8")) as {
    signed: { targets: Record<string, ListedPackage> };
  };
  return Object.entries(signed.targets).map(([path, { length, hashes, custom, without_bun }]) => {
    const { version, commit, architecture } = custom ?? {};
    const release = {
      ...{ version, commit, architecture, ring },
      file: path.replace(/^ring-\d+\//, ""),
      bytes: length,
      sha256: hashes["sha256"],
      ...(Value.Check(WithoutBun, without_bun) && { without_bun }),
    };
    if (Value.Check(Release, release)) return release;
    const fault = Value.Errors(Release, release).First();
    throw new Refused(
      "signature",
      `ring-${ring} is signed, and ${path} is no release (${fault?.path} ${fault?.message})`,
    );
  });
}

/** A package in a list: `custom` is as updaters since the first one know it, and refuse more in it. */
interface ListedPackage {
  readonly length: number;
  readonly hashes: Readonly<Record<string, string>>;
  readonly custom?: Readonly<Record<"version" | "commit" | "architecture", unknown>>;
  readonly without_bun?: unknown;
}

/** Fetches signed metadata within the given bounds, and remembers files that it could not fetch. */
class MetadataFetcher implements Fetcher {
  readonly base: string;
  readonly #source: ReleaseSource;
  fault: OperatorError | undefined;

  constructor(source: ReleaseSource) {
    this.#source = source;
    this.base = repositoryAddress(source.manifest, "metadata");
  }

  async downloadBytes(url: string, bytes_max: number): Promise<Buffer> {
    const { DownloadHTTPError } = await import("tuf-js/dist/error.js");
    try {
      return Buffer.from(await fetchSmall(this.#source, url, bytes_max));
    } catch (thrown) {
      // Fetch the next root until there is no further one.
      if (/\/\d+\.root\.json$/.test(url) && /answers 40[34]/.test(messageOf(thrown)))
        throw new DownloadHTTPError("there is no newer root", 404);
      if (thrown instanceof OperatorError) this.fault = thrown;
      throw thrown;
    }
  }

  downloadFile(): Promise<never> {
    throw new Error("packages are downloaded piece by piece, and not by this library");
  }
}

/** Which fault of the library is which refusal; it wraps its errors as text. The first row that matches counts. */
const refusals: readonly { says: RegExp; reason: ReleaseRefusalReason; message: string }[] = [
  {
    says: /expired/i,
    reason: "expired",
    message:
      "the list of releases is too old to be trusted: somebody keeps newer ones back, the publisher has not refreshed it, or this box's clock is wrong",
  },
  {
    says: /is less than current|Missing file|Expected version/i,
    reason: "rollback",
    message: "the list of releases is older than one that this box has seen",
  },
  {
    says: /does not match|doesn't match|hash|length/i,
    reason: "mixed",
    message: "the files of the list of releases do not belong together",
  },
];

function refusalOf(thrown: unknown): Error {
  const said = messageOf(thrown);
  const code = (thrown as { code?: string }).code ?? "";
  if (code === "ENOSPC" || /ENOSPC|no space/i.test(said))
    return new Refused("disk", "there is no room for the list of releases");
  const row = refusals.find(({ says }) => says.test(said));
  const message = row?.message ?? "the list of releases is not signed by those whom this box trusts";
  return new Refused(row?.reason ?? "signature", `${message} (${said})`);
}

const namesIn = (directory: string) =>
  existsSync(directory) ? readdirSync(directory).filter((name) => name.endsWith(".json")) : [];

const keptName = "metadata";
/** Roots that are followed in one run: a key a week for years. */
const root_rotations_max = 256;
const rings_max = 32;

/** Where releases are fetched from. */
export interface ReleaseSource {
  /** The address of the repository. */
  readonly manifest: string;
  /** The server's own certificate, if no authority certifies it, in PEM. */
  readonly certificate?: string | undefined;
  readonly clock: Clock;
  readonly stop: AbortSignal;
}

const wording: Wording = {
  name: "the server of releases",
  kind: "a web server with releases",
  asker: "this gateway",
  run: "update",
  url_setting: "[update] manifest",
  certificate_setting: "in [upload] certificate, if central serves them",
  url_example: "https://central.example/releases",
  token_remedy: "have the server give releases to everybody: they are signed, and no secret",
};

/** A small file of the repository. @throws OperatorError where it cannot be fetched */
async function fetchSmall(source: ReleaseSource, address: string, bytes_max: number): Promise<Uint8Array> {
  const outcome = await requestOnce(
    { method: "GET", url: new URL(address), headers: {} },
    { ...source, answer_ms_max: stall_ms_max, answer_bytes_max: bytes_max, wording },
  );
  if ("status" in outcome && outcome.status === 200) return outcome.body;
  const why = "status" in outcome ? `it answers ${outcome.status}` : outcome.failure;
  throw new OperatorError(
    `${address} cannot be fetched (${why})`,
    "check [update] manifest, and the network",
  );
}

/**
 * The package to download of a release: the one without Bun where `bun` is what it needs. What was begun is gone on with: so the updater of a new release
 * proves itself by the package that it came in.
 */
export async function packageFor(
  release: Release,
  { bun, directory }: { readonly bun: string; readonly directory: string },
): Promise<ReleasePackage> {
  const { without_bun } = release;
  if (without_bun === undefined || existsSync(join(directory, downloadName(release)))) return release;
  // A Bun that cannot be read is of no use.
  const here = await digestOf(bun).catch(() => undefined);
  return here === without_bun.bun ? without_bun : release;
}

const downloadName = ({ sha256 }: ReleasePackage) => `${sha256}.deb`;

/**
 * Downloads a package of a release into a directory, from where an earlier try ended.
 *
 * @returns the path of the file, which has the bytes and the digest that the list names
 * @throws OperatorError where the server does not answer; Refused where its bytes are others
 */
export async function downloadRelease(
  source: ReleaseSource,
  release: Release,
  { of, directory }: { readonly of: ReleasePackage; readonly directory: string },
): Promise<string> {
  const { file } = release;
  const { bytes, sha256 } = of;
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const path = join(directory, downloadName(of));
  if (sizeOf(path) > bytes) rmSync(path);
  try {
    for (let tries = 0; sizeOf(path) < bytes && tries < tries_max; tries += 1)
      await downloadOn(source, release, { of, path });
    // What is there stays: a line that is often cut brings a package in several nights.
    if (sizeOf(path) < bytes) throw new Error(`it was cut off ${tries_max} times`);
  } catch (thrown) {
    if (thrown instanceof Refused) throw thrown;
    if ((thrown as NodeJS.ErrnoException).code === "ENOSPC")
      throw new Refused("disk", `${directory} is full`, release);
    throw new OperatorError(
      `${file} cannot be downloaded (${messageOf(thrown)})`,
      "nothing has changed, and the next update goes on from here; check the network",
    );
  }
  if (sizeOf(path) === bytes && (await digestOf(path)) === sha256) return path;
  rmSync(path);
  throw new Refused("damaged", `${file} is not what the list says of it: its bytes are others`, release);
}

/** One request, for what is still missing. */
async function downloadOn(
  source: ReleaseSource,
  release: Release,
  { of, path }: { readonly of: ReleasePackage; readonly path: string },
): Promise<void> {
  const { clock, stop, manifest, certificate } = source;
  const late = new AbortController();
  let cancelStall = () => {};
  const expectMore = () => {
    cancelStall();
    cancelStall = clock.after(stall_ms_max, () => late.abort(new Error("nothing has moved for a minute")));
  };
  const cancelAll = clock.after(download_ms_max, () => late.abort(new Error("it takes more than two hours")));
  const from = sizeOf(path);
  try {
    expectMore();
    const response = await fetch(repositoryAddress(manifest, `targets/${targetPathOf(release, of)}`), {
      headers: { "accept-encoding": "identity", ...(from > 0 && { range: `bytes=${from}-` }) },
      redirect: "manual",
      decompress: false,
      signal: AbortSignal.any([stop, late.signal]),
      tls: { ca: certificate },
    });
    if (response.status !== 200 && response.status !== 206)
      throw new Error(`the server answers ${response.status}`);
    // A server without ranges sends all of it again.
    await using target = await open(path, response.status === 206 ? "a" : "w", 0o644);
    let at = response.status === 206 ? from : 0;
    for await (const part of response.body ?? []) {
      expectMore();
      at += part.length;
      if (at > of.bytes)
        throw new Refused("damaged", `${release.file} is longer than the list says`, release);
      await target.appendFile(part);
    }
    await target.sync();
  } finally {
    cancelStall();
    cancelAll();
  }
}

/**
 * @param data_bytes absent: for a package alone, as its own updater unpacks it
 * @throws Refused where the disk has no room for download, release, the proof of its updater, a copy of the data, and the same again to go back
 */
export async function requireRoomFor(
  directory: string,
  release: Release,
  data_bytes: number | undefined,
): Promise<void> {
  const free = await freeBytes(directory);
  const package_bytes = release.bytes * (1 + unpacked_times);
  const needed = data_bytes === undefined ? package_bytes : 2 * (package_bytes + data_bytes) + reserve_bytes;
  if (free >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  throw new Refused(
    "disk",
    `${directory} has ${megabytes(free)} free, and ${release.version} needs ${megabytes(needed)}: free some space there`,
    release,
  );
}

const sizeOf = (path: string) => (existsSync(path) ? statSync(path).size : 0);

/** Between two pieces of a download, and for the whole of it. */
const stall_ms_max = 60_000;
const download_ms_max = 2 * 60 * 60_000;
/** Requests for one file in a run. */
const tries_max = 5;
/** A package unpacked takes less than this many times its own size. */
const unpacked_times = 4;
const reserve_bytes = 16 * 1024 * 1024;
