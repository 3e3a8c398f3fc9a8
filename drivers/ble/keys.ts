import { readFileSync, statSync } from "node:fs";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Log } from "../../src/base/log.ts";
import { isAddress } from "./address.ts";

/** Devices' bind keys, 16 bytes each, by address in lower case. */
export type Keys = ReadonlyMap<string, Uint8Array>;

/**
 * The keys of the configuration and of its file, whose lines are `address key`; what follows `#` is a
 * remark. Where both have an address, the file's counts.
 *
 * @throws OperatorError naming file and line, never a key.
 */
export function readKeys(options: {
  keys?: Readonly<Record<string, unknown>> | undefined;
  file?: string | undefined;
  log: Log;
}): Keys {
  const keys = new Map<string, Uint8Array>();
  for (const [address, key] of Object.entries(options.keys ?? {})) {
    add(keys, address, key, `the key of ${address} in [ble.keys]`);
  }
  const { file } = options;
  if (file === undefined) return keys;
  for (const [index, line] of linesOf(file).entries()) {
    const [text = ""] = line.split("#");
    if (text.trim() === "") continue;
    const [address = "", key = "", ...more] = text.trim().split(/\s+/);
    add(keys, address, more.length === 0 ? key : "", `line ${index + 1} of ${file}`);
  }
  if ((statSync(file).mode & 0o007) !== 0) {
    options.log.warn(`everybody on this machine may read the keys in ${file}: chmod 640 it`);
  }
  return keys;
}

function add(keys: Map<string, Uint8Array>, address: string, key: unknown, where: string): void {
  if (typeof key !== "string" || !isAddress(address) || !/^[\da-f]{32}$/i.test(key)) {
    throw new OperatorError(
      `${where} is no address and key`,
      'write them as "54:48:e6:8f:80:a5" and 32 hex digits',
    );
  }
  keys.set(address.toLowerCase(), new Uint8Array(Buffer.from(key, "hex")));
}

function linesOf(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch (thrown) {
    throw new OperatorError(
      `the keys of [ble] cannot be read from ${file} (${messageOf(thrown)})`,
      "make it a file that the user who runs Lintel may read, or correct keys_file",
    );
  }
}
