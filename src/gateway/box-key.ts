import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { join } from "node:path";
import { readPlainFile, writeDurably } from "../base/disk/safe-files.ts";
import { privateKeyIn } from "../base/ed25519.ts";
import { messageOf, OperatorError } from "../base/errors.ts";

/** The name of the key's file in a data directory. No backup has it: a box that takes the place of another signs with its own. */
export const boxKeyFile = "box-key.pem";

/** The key of Ed25519 by which a box signs what it says of itself, made when it is first asked for. @throws OperatorError where the file is damaged */
export function boxKey(directory: string): KeyObject {
  const path = join(directory, boxKeyFile);
  const kept = readPlainFile(path, pem_bytes_max);
  if (kept === undefined) {
    const { privateKey } = generateKeyPairSync("ed25519");
    writeDurably(path, privateKey.export({ format: "pem", type: "pkcs8" }));
    return privateKey;
  }
  try {
    return privateKeyIn(kept);
  } catch (thrown) {
    throw new OperatorError(
      `${path} is damaged (${messageOf(thrown)})`,
      "remove it, and do this again: the box then signs with another key",
      { cause: thrown },
    );
  }
}

const pem_bytes_max = 4096;
