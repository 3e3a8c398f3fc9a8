import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import { keepNext, nextCertificateIn } from "../central/next-certificate.ts";
import {
  certificateIn,
  onlyForOwn,
  type TlsFiles,
  type TlsSetting,
  tlsSettingOf,
} from "../config/server-access.ts";
import { nameList } from "./command.ts";
import { type CentralPlace, defaultCentralData } from "./store-place.ts";

/** The options for central's TLS, as a command received them. */
export interface CentralTlsOptions {
  readonly tlsCertificate?: string;
  readonly tlsKey?: string;
  readonly tlsNextCertificate?: string;
  readonly tls?: "self-signed";
  readonly tlsNames?: readonly string[];
  readonly tlsDirectory?: string;
}

export function addTlsOptions(command: Command): Command {
  return command
    .option("--tls-certificate <file>", "serve TLS with this certificate, PEM; needs --tls-key")
    .option("--tls-key <file>", "its key, PEM")
    .option(
      "--tls-next-certificate <file>",
      "the certificate that will follow it, PEM: gateways that were given that one know this one too",
    )
    .addOption(
      new Option("--tls <kind>", "serve TLS with a certificate that is made at the first start").choices([
        "self-signed",
      ]),
    )
    .option(
      "--tls-names <names>",
      "host names and addresses by which homes reach it, besides the machine's own, with commas between",
      nameList,
    )
    .option(
      "--tls-directory <dir>",
      `keep that certificate here (default: the data directory; with --database ${defaultCentralData})`,
    );
}

/** @throws OperatorError where the options for TLS contradict each other */
export function tlsSettingFor(options: CentralTlsOptions): TlsSetting | undefined {
  const { tls, tlsNames, tlsDirectory, tlsCertificate, tlsKey } = options;
  const given = { tls, tls_names: tlsNames, tls_certificate: tlsCertificate, tls_key: tlsKey };
  const nameOf = (key: string) => `--${key.replace("_", "-")}`;
  const setting = tlsSettingOf(given, { directory: "", nameOf });
  if (setting !== undefined && "what" in setting) throw new OperatorError(setting.what, setting.remedy);
  if (tlsDirectory !== undefined && tls === undefined)
    throw new OperatorError(...onlyForOwn(nameOf("tls_directory"), nameOf("tls")));
  return setting;
}

/** The files that are given, or central's own, which are in its data directory unless an option names another. */
export async function tlsFilesFor(
  tls: TlsSetting,
  { listen, tlsDirectory }: CentralTlsOptions & { readonly listen: string },
  { place, clock, log }: { place: CentralPlace; clock: Clock; log: Log },
): Promise<TlsFiles> {
  if ("certificate" in tls) return tls;
  const { tlsFilesOf } = await import("../web/server/self-signed.ts");
  const directory = tlsDirectoryOf(tlsDirectory, place);
  const keeping = { directory, directorySetting: "--tls-directory", listen, clock, log };
  await keepNext(tls.names, keeping);
  return tlsFilesOf(tls, keeping);
}

/** Where central keeps certificates of its own. */
export function tlsDirectoryOf(given: string | undefined, place: CentralPlace): string {
  if (given !== undefined) return resolve(given);
  return "directory" in place ? place.directory : defaultCentralData;
}

/** The next certificate: of central's own as it lies there now, or the file that is given. */
export function nextCertificateFor(
  tls: TlsSetting | undefined,
  { tlsDirectory, tlsNextCertificate: file }: CentralTlsOptions,
  place: CentralPlace,
): (() => string | undefined) | undefined {
  if (file !== undefined) return () => certificateIn(file);
  if (tls === undefined || "certificate" in tls) return undefined;
  return () => nextCertificateIn(tlsDirectoryOf(tlsDirectory, place));
}
