import { mkdirSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Command } from "commander";
import { readIfThere, writeDurably } from "../disk/durable-file.ts";
import { Pseudonyms } from "../download/pseudonyms.ts";
import { messageOf, OperatorError } from "../errors.ts";
import type { Terminal } from "./terminal.ts";

/** The options for who is told in a package. */
export interface IdentifierOptions {
  readonly identifiers: boolean;
  readonly key?: string;
}

/** Gives a command the options for who is told in its package. */
export function addIdentifierOptions(command: Command, who: string): Command {
  return command
    .option("--no-identifiers", "leave out what tells who somebody is: so it is anyway")
    .option("--identifiers", `names, addresses, birth dates and texts too${who}`, false)
    .option(
      "--key <file>",
      `the key by which homes, subjects and items are numbered (default: ${defaultKey}, made when it is first needed)`,
    );
}

/**
 * The pseudonyms of a package; undefined where identifiers were asked for.
 *
 * @throws OperatorError where the key cannot be read, is none, or others may read it
 */
export function pseudonymsOf(
  { identifiers, key }: IdentifierOptions,
  terminal: Terminal,
): Pseudonyms | undefined {
  if (identifiers) return undefined;
  const path = key === undefined ? join(homedir(), ...keyPath) : resolve(key);
  return inFile(path, key === undefined, terminal);
}

/** Pseudonyms by the key in a file, which is made where `mayMake`, once there is something to write by it. */
function inFile(path: string, mayMake: boolean, terminal: Terminal): Pseudonyms {
  const text = reading(path, () => readIfThere(path))?.trim();
  if (text === undefined && !mayMake)
    throw new OperatorError(
      `there is no key ${path}`,
      "make one: (umask 077; openssl rand -hex 32 > FILE), or name the one that the programme has",
    );
  if (text === undefined) {
    const made = crypto.getRandomValues(new Uint8Array(32));
    return new Pseudonyms(made, () => {
      reading(path, () => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        writeDurably(path, `${made.toHex()}\n`);
      });
      terminal.say(
        `Made the key ${path}, by which homes, subjects and items are numbered: keep it, and take it along to where the same numbers are wanted.`,
      );
    });
  }
  if (!/^[0-9a-f]{64}$/.test(text))
    throw new OperatorError(`${path} holds no key`, "a key is 64 hexadecimal digits alone");
  if ((statSync(path).mode & 0o077) !== 0)
    throw new OperatorError(
      `the key ${path} can be read by others, who could then find out whom the numbers mean`,
      `chmod 600 ${path}`,
    );
  return new Pseudonyms(Uint8Array.fromHex(text));
}

function reading<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (thrown) {
    throw new OperatorError(
      `the key ${path} cannot be read or made (${messageOf(thrown)})`,
      "name another place with --key FILE, or give the file to the user that this runs as",
      { cause: thrown },
    );
  }
}

const keyPath = [".config", "lintel", "package.key"];
const defaultKey = `~/${keyPath.join("/")}`;
