import { createHash } from "node:crypto";
import { createReadStream, existsSync, mkdirSync, rmSync, statSync } from "node:fs";
import { open, statfs } from "node:fs/promises";
import { join } from "node:path";
import type { Clock } from "../clock.ts";
import { messageOf, OperatorError } from "../errors.ts";
import { requestOnce } from "../http-client/request.ts";
import type { Wording } from "../http-client/wording.ts";
import { Refused } from "./refused.ts";
import { type Release, repositoryAddress, targetPathOf } from "./release.ts";

/** Where releases are fetched from. */
export interface ReleaseSource {
  /** The address of the repository. */
  readonly manifest: string;
  /** The certificate of a server that no authority vouches for, in PEM. */
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
export async function fetchSmall(
  source: ReleaseSource,
  address: string,
  bytes_max: number,
): Promise<Uint8Array> {
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
 * Downloads the package of a release into a directory, from where an earlier try ended.
 *
 * @returns the path of the file, which has the bytes and the digest that the list names
 * @throws OperatorError where the server does not answer; Refused where its bytes are others
 */
export async function downloadRelease(
  source: ReleaseSource,
  release: Release,
  directory: string,
): Promise<string> {
  const { bytes, sha256, file } = release;
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const path = join(directory, `${sha256}.deb`);
  if (sizeOf(path) > bytes) rmSync(path);
  try {
    for (let tries = 0; sizeOf(path) < bytes && tries < tries_max; tries += 1)
      await downloadOn(source, release, path);
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
async function downloadOn(source: ReleaseSource, release: Release, path: string): Promise<void> {
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
    const response = await fetch(repositoryAddress(manifest, `targets/${targetPathOf(release)}`), {
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
      if (at > release.bytes)
        throw new Refused("damaged", `${release.file} is longer than the list says`, release);
      await target.appendFile(part);
    }
    await target.sync();
  } finally {
    cancelStall();
    cancelAll();
  }
}

/** @throws Refused where the disk has no room for download, release, a copy of the data, and the same again to go back */
export async function requireRoomFor(directory: string, release: Release, data_bytes: number): Promise<void> {
  const { bavail, bsize } = await statfs(directory);
  const free = bavail * bsize;
  const needed = release.bytes * (1 + unpacked_times) + 2 * data_bytes + reserve_bytes;
  if (free >= needed) return;
  const megabytes = (bytes: number) => `${Math.ceil(bytes / 1e6)} MB`;
  throw new Refused(
    "disk",
    `${directory} has ${megabytes(free)} free, and ${release.version} needs ${megabytes(needed)}: free some space there`,
    release,
  );
}

async function digestOf(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const part of createReadStream(path) as AsyncIterable<Buffer>) hash.update(part);
  return hash.digest("hex");
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
