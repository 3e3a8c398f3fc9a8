/**
 * The releases that a programme has published, as a repository of The Update Framework: signed roles that each say something, end at a time, and count up. So a
 * list that was changed, is old, is mixed of several or was signed by a key that counts no more is refused.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Value } from "@sinclair/typebox/value";
import type { Fetcher } from "tuf-js";
import { parseIfWhole, readIfThere, writeDurably } from "../disk/durable-file.ts";
import { messageOf, OperatorError } from "../errors.ts";
import type { ReleaseRefusalReason } from "../update-report.ts";
import { fetchSmall, type ReleaseSource } from "./fetching.ts";
import { Refused } from "./refused.ts";
import { Release, repositoryAddress } from "./release.ts";

/**
 * The releases of every ring, each signed by who may sign for it.
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

/** The releases that the verified role of a ring lists. @throws Refused where an entry is not one of a release */
function releasesIn(working: string, ring: number): Release[] {
  const { signed } = JSON.parse(readFileSync(join(working, `ring-${ring}.json`), "utf8")) as {
    signed: { targets: Record<string, { length: number; hashes: Record<string, string>; custom?: object }> };
  };
  return Object.entries(signed.targets).map(([path, { length, hashes, custom }]) => {
    const release = {
      ...custom,
      ring,
      file: path.replace(/^ring-\d+\//, ""),
      bytes: length,
      sha256: hashes["sha256"],
    };
    if (Value.Check(Release, release)) return release;
    const fault = Value.Errors(Release, release).First();
    throw new Refused(
      "signature",
      `ring-${ring} is signed, and ${path} is no release (${fault?.path} ${fault?.message})`,
    );
  });
}

/** Fetches signed metadata within the bounds that are asked for, and remembers what could not be fetched. */
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
      // The next root is asked for until there is none.
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
