/** Attacks by somebody who can write into the folder of releases that a web server serves. */
import { createPrivateKey } from "node:crypto";
import { cpSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Metadata } from "@tufjs/models";
import { keysIn, signatureBy } from "../../publishing/keys.ts";
import { Ledger } from "../../publishing/ledger.ts";
import { filesOf, signAll } from "../../publishing/repository.ts";
import { run } from "../boot/root.ts";

/** An attack, by what a box calls it. */
export const attacks = {
  /** The list from before is served again: all that it had in it is there. */
  replay: "rollback",
  /** A list that ended a week ago. */
  freeze: "expired",
  /** The role of a ring from another list. */
  mix: "mixed",
  /** A list that counts further, signed by a key that was stolen and replaced. */
  revoked: "signature",
} as const;
export type Attack = keyof typeof attacks;

/**
 * @param at the folder that is served, the ledger of the programme, and the folder as it was one change before
 * @returns what a box calls it
 */
export async function attack(
  kind: Attack,
  at: { folder: string; ledger: string; before: string },
): Promise<string> {
  const { folder, ledger, before } = at;
  const metadata = join(folder, "metadata");
  const nameIn = (directory: string, role: string) =>
    readdirSync(join(directory, "metadata")).find((name) => name.endsWith(`.${role}.json`)) ?? "";
  if (kind === "replay") {
    for (const name of readdirSync(folder)) rmSync(join(folder, name), { recursive: true });
    cpSync(join(ledger, "older"), folder, { recursive: true });
    // The signature is checked first: a list from before a key was replaced is not looked at any further.
    if (signerOf(folder) !== timestampKey(ledger)) return "signature";
  } else if (kind === "freeze") {
    const opened = Ledger.open(ledger);
    const keys = keysIn([join(ledger, "keys")]);
    const week_ms = 7 * 86_400_000;
    await signAll(opened, { keys, now_ms: Date.now() - 3 * week_ms, renew: true, about: () => true });
    opened.publish(filesOf(opened));
    rmSync(metadata, { recursive: true });
    cpSync(join(opened.state.folder, "metadata"), metadata, { recursive: true });
  } else if (kind === "mix") {
    const [now, then] = [nameIn(folder, "ring-500"), nameIn(before, "ring-500")];
    writeFileSync(join(metadata, now), readFileSync(join(before, "metadata", then)));
  } else {
    const key = createPrivateKey(readFileSync(newestKey(ledger, "timestamp")));
    const id = timestampKey(ledger);
    run([join(import.meta.dir, "../../release"), "rotate", ledger, "--role", "timestamp", "--yes"]);
    rmSync(metadata, { recursive: true });
    cpSync(join(Ledger.open(ledger).state.folder, "metadata"), metadata, { recursive: true });
    const path = join(metadata, "timestamp.json");
    const { signed } = JSON.parse(readFileSync(path, "utf8"));
    const forged = Metadata.fromJSON(signed._type, {
      signed: { ...signed, version: signed.version + 50 },
      signatures: [],
    });
    forged.sign((bytes) => signatureBy(id, key, bytes), false);
    writeFileSync(path, JSON.stringify(forged.toJSON()));
  }
  return attacks[kind];
}

/** The id of the key that signs the newest list. */
function timestampKey(ledger: string): string {
  return JSON.parse(readFileSync(join(ledger, "ledger.json"), "utf8")).roles.timestamp.keys[0].id;
}

/** The id of the key that a served list is signed with. */
function signerOf(folder: string): string {
  return JSON.parse(readFileSync(join(folder, "metadata/timestamp.json"), "utf8")).signatures[0].keyid;
}

/** Keeps what a box is about to read, so that the one before that is old when it is served again. */
export function keepForReplay(folder: string, ledger: string): void {
  const [older, read] = [join(ledger, "older"), join(ledger, "read")];
  rmSync(older, { recursive: true, force: true });
  if (existsSync(read)) renameSync(read, older);
  cpSync(folder, read, { recursive: true });
}

function newestKey(ledger: string, role: string): string {
  const names = readdirSync(join(ledger, "keys")).filter((name) => name.startsWith(role));
  const [newest = ""] = names.toSorted((one, other) => other.length - one.length || (one < other ? 1 : -1));
  return join(ledger, "keys", newest);
}
