import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { writeDurably } from "../../base/disk/safe-files.ts";
import { OperatorError } from "../../base/errors.ts";
import type { Config } from "../../config/gateway-config.ts";
import type { RemoteRequestName } from "../../domain/remote-request.ts";
import type { AttachedDriver, LampKeeper } from "../attached-drivers.ts";
import type { GatewayStatus } from "../gateway-status.ts";
import type { Joining } from "../joining/joining.ts";
import type { MeshScanning } from "../mesh-scans.ts";
import { keepRing, updateWanted } from "../update/remote-ring.ts";
import type { CentralCertificates } from "../uploader/central-certificates.ts";

/** How each request is done: `words` is a line for a person, `answer` what is sent. It rejects where that cannot be done. */
export type RemoteActions = Readonly<
  Record<
    RemoteRequestName,
    (argument: string, stop: AbortSignal) => Promise<{ readonly words: string; readonly answer?: string }>
  >
>;

/** Runs a command of this program beside the gateway; `words` never come from a request. Answers its exit code and what it printed. */
export type RunCommand = (
  words: readonly string[],
  stop: AbortSignal,
) => Promise<{ readonly code: number; readonly out: string; readonly said: string }>;

/** Parts of a gateway that requests act on. */
export interface ActionParts {
  readonly config: Config;
  readonly status: () => Promise<GatewayStatus>;
  readonly attached: readonly AttachedDriver[];
  readonly mesh: Pick<MeshScanning, "scan">;
  readonly joining: Joining;
  readonly lamp: LampKeeper;
  readonly certificates: () => CentralCertificates | undefined;
  readonly command: RunCommand;
  /** The last lines of the log of this process. */
  readonly recentLog: () => string;
}

/** The actions of a gateway. No argument reaches a command, a path or an address: each is a number, a name that is looked up, or compared. */
export function remoteActions(parts: ActionParts): RemoteActions {
  const { config, status, attached, mesh, joining, lamp, certificates, command, recentLog } = parts;
  const run = async (words: readonly string[], stop: AbortSignal) => {
    const { code, out, said } = await command([...words, "--config", config.file], stop);
    const last = said.trimEnd().split("\n").at(-1) ?? "";
    if (code !== 0) throw new OperatorError(`lintel ${words[0]} ended with ${code}`, last);
    return out;
  };
  return {
    status: async () => {
      const { store: _, conflicts, strangers, tls: __, ...told } = await status();
      const counted = { ...told, conflicts: conflicts.length, strangers: strangers.length };
      return { words: "told its status", answer: JSON.stringify(counted) };
    },
    "fault-report": async (_, stop) => {
      const directory = mkdtempSync(join(tmpdir(), "lintel-remote-"));
      try {
        const file = join(directory, "report.json");
        const log = join(directory, "log");
        writeFileSync(log, recentLog());
        await run(["report-fault", "--out", file, "--log", log], stop);
        const answer = readFileSync(file, "utf8");
        return { words: `sent a fault report of ${answer.length} characters`, answer };
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
    "mesh-scan": async () => {
      const scan = await mesh.scan();
      return { words: "scanned the mesh", answer: JSON.stringify(scan) };
    },
    "open-joining": async (minutes) => {
      await joining.open(Number(minutes) * 60, () => {}, {});
      return { words: `joining is open for ${minutes} minutes` };
    },
    "restart-driver": async (name) => {
      const driver = attached.find((one) => one.name === name);
      if (driver === undefined)
        throw new OperatorError(
          `this box has no driver ${name}`,
          `it has ${attached.map((one) => one.name).join(", ")}`,
        );
      await driver.restart();
      return { words: `restarted ${name}` };
    },
    upload: async (_, stop) => {
      const answer = await run(["upload", "--json"], stop);
      return { words: "uploaded", answer: answer.trim() };
    },
    update: async () => {
      requireUpdates(config);
      writeDurably(join(config.data, updateWanted), "");
      return { words: "it looks for a newer release within half an hour" };
    },
    blink: async () => {
      lamp.joined();
      return { words: "its lamp blinks, if it has one" };
    },
    "set-ring": async (ring) => {
      keepRing(config.data, { configured: requireUpdates(config).ring, ring: Number(ring) });
      return { words: `it takes releases of ring ${ring} from its next update on` };
    },
    "take-certificate": async (fingerprint) => {
      const known = certificates();
      if (known === undefined)
        throw new OperatorError("this box knows central by no certificate of its own", "nothing is needed");
      known.grant(fingerprint);
      return { words: "it takes that certificate as the next one, once it uploads" };
    },
  };
}

function requireUpdates({ update }: Config) {
  if (update === undefined) throw new OperatorError("this box has no [update]", "add it on the box");
  return update;
}
