import { type Command, InvalidArgumentError } from "commander";
import { OperatorError } from "../base/errors.ts";
import { type CertificateChange, certificateChange, changeCertificate } from "../central/next-certificate.ts";
import { tlsDirectoryOf } from "./central-tls.ts";
import { addHelp, type CommandContext, nameList } from "./command.ts";
import { addCentralOptions, centralPlace, type StoreOptions } from "./store-place.ts";
import { withCentralStore } from "./with-store.ts";

/** `lintel central certificate`: shows central's own certificate and the next one, and changes to that. */
export function defineCertificate(central: Command, context: CommandContext): void {
  const certificate = central
    .command("certificate")
    .description("show central's own certificate and which homes know the next one, or change to that");
  addHelp(certificate, {
    examples: {
      "lintel central certificate --data /srv/lintel": "which homes know the next one",
      "lintel central certificate --data /srv/lintel --change": "the next one, from the next start on",
      "lintel central certificate --data /srv/lintel --change --leave 7,31":
        "although these two homes do not know it",
    },
    notes: [
      "Central names the next certificate to each gateway that uploads. After a change the key of the one before is gone, and",
      "a new next one is made at the next start. A home that does not know the certificate in use needs a visit: its file must be",
      "put where [upload] certificate says. docs/tls.md says what to do when the key was stolen.",
    ],
    exits: { 0: "shown, or changed: restart central then" },
  });
  addCentralOptions(certificate)
    .option("--tls-directory <dir>", "where the certificates are, if central was started with that")
    .option("--change", "use the next one, once every home knows it")
    .option("--leave <homes>", "change although these homes do not know it, or all", homesLeft)
    .option("--json", "print in_use, next, ready, not_ready and changed as one JSON object")
    .action((options: CertificateOptions) => showOrChange(options, context));
}

interface CertificateOptions extends StoreOptions {
  readonly tlsDirectory?: string;
  readonly change?: boolean;
  readonly leave?: readonly number[] | "all";
}

async function showOrChange(options: CertificateOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const directory = tlsDirectoryOf(options.tlsDirectory, centralPlace(options));
  const found = await withCentralStore(options, context, (store) => certificateChange(directory, store));
  const changed = options.change === true;
  if (changed) {
    requireReady(found, options.leave ?? []);
    changeCertificate(directory);
  }
  if (options.json) terminal.printJson({ ...found, changed });
  else for (const line of linesOf(found, changed)) terminal.print(line);
}

/** @throws OperatorError where a home would be cut off that is not named */
function requireReady({ not_ready }: CertificateChange, leave: readonly number[] | "all"): void {
  if (leave === "all") return;
  const cut = not_ready.filter((home) => !leave.includes(home));
  if (cut.length === 0) return;
  const named = cut.slice(0, named_max).join(", ");
  const more = cut.length > named_max ? ` and ${cut.length - named_max} more` : "";
  throw new OperatorError(
    `${cut.length === 1 ? "home" : "homes"} ${named}${more} would be cut off: the next certificate is not known there yet`,
    "wait until they have uploaded, or name those that you will visit with --leave",
  );
}

function linesOf({ in_use, next, ready, not_ready }: CertificateChange, changed: boolean): string[] {
  const shown = ({ file, valid_until, fingerprint }: CertificateChange["in_use"]) =>
    `${file}, valid until ${valid_until}\n  SHA-256 fingerprint ${fingerprint}`;
  if (changed && next !== null)
    return [
      `Changed: restart central now (sudo systemctl restart lintel-central). ${in_use.file} is now what was the next one:\n  SHA-256 fingerprint ${next.fingerprint}`,
      "Give it to clients that were given the file before, such as scripts and browsers.",
    ];
  return [
    `In use  ${shown(in_use)}`,
    next === null ? "Next    none yet: central makes it at its next start" : `Next    ${shown(next)}`,
    `${ready.length} of ${ready.length + not_ready.length} homes know the next one${not_ready.length === 0 ? "." : `; not yet: ${not_ready.join(", ")}.`}`,
  ];
}

function homesLeft(text: string): readonly number[] | "all" {
  if (text === "all") return text;
  const homes = nameList(text).map(Number);
  if (homes.length > 0 && homes.every((home) => Number.isSafeInteger(home) && home > 0)) return homes;
  throw new InvalidArgumentError("It must be numbers of homes with commas between, such as 7,31, or all.");
}

/** Homes that a message names at most. */
const named_max = 10;
