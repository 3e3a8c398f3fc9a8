import { resolve } from "node:path";
import { type Command, InvalidArgumentError, Option } from "commander";
import type { Clock } from "../clock.ts";
import { isServerName, type TlsFiles, type TlsSetting } from "../config/tls-section.ts";
import { OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { CentralPlace } from "./central-place.ts";
import { defaultCentralData } from "./store-options.ts";

/** The options that say what central serves TLS with, as a command received them. */
export interface CentralTlsOptions {
  readonly tlsCertificate?: string;
  readonly tlsKey?: string;
  readonly tls?: "self-signed";
  readonly tlsNames?: readonly string[];
  readonly tlsDirectory?: string;
}

export function addTlsOptions(command: Command): Command {
  return command
    .option("--tls-certificate <file>", "serve TLS with this certificate, PEM; needs --tls-key")
    .option("--tls-key <file>", "its key, PEM")
    .addOption(
      new Option("--tls <kind>", "serve TLS with a certificate that is made at the first start").choices([
        "self-signed",
      ]),
    )
    .option(
      "--tls-names <names>",
      "host names and addresses by which homes reach it, besides the machine's own, with commas between",
      serverNameList,
    )
    .option(
      "--tls-directory <dir>",
      `keep that certificate here (default: the data directory; with --database ${defaultCentralData})`,
    );
}

/** @throws OperatorError where the options for TLS contradict each other */
export function tlsSettingFor(options: CentralTlsOptions): TlsSetting | undefined {
  const { tls, tlsNames, tlsDirectory, tlsCertificate, tlsKey } = options;
  if (tls !== undefined) {
    if (tlsCertificate !== undefined || tlsKey !== undefined)
      throw new OperatorError(
        `--tls ${tls} and ${tlsKey === undefined ? "--tls-certificate" : "--tls-key"} both say what TLS is served with`,
        "leave one of them out: a certificate is made, or files are given",
      );
    return { names: tlsNames ?? [] };
  }
  if (tlsNames !== undefined || tlsDirectory !== undefined)
    throw new OperatorError(
      `${tlsNames === undefined ? "--tls-directory" : "--tls-names"} is for a certificate that central makes`,
      "give --tls self-signed too, or leave it out",
    );
  if (tlsCertificate === undefined && tlsKey === undefined) return undefined;
  if (tlsCertificate === undefined || tlsKey === undefined)
    throw new OperatorError("TLS needs a certificate and a key", "give both --tls-certificate and --tls-key");
  return { certificate: resolve(tlsCertificate), key: resolve(tlsKey) };
}

/** The files that are given, or central's own, which are beside its data unless an option says otherwise. */
export async function tlsFilesFor(
  tls: TlsSetting,
  { listen, tlsDirectory }: CentralTlsOptions & { readonly listen: string },
  { place, clock, log }: { place: CentralPlace; clock: Clock; log: Log },
): Promise<TlsFiles> {
  if ("certificate" in tls) return tls;
  const { tlsFilesOf } = await import("../tls/self-signed.ts");
  const beside = "directory" in place ? place.directory : defaultCentralData;
  const directory = tlsDirectory === undefined ? beside : resolve(tlsDirectory);
  return tlsFilesOf(tls, { directory, directorySetting: "--tls-directory", listen, clock, log });
}

function serverNameList(text: string): string[] {
  const names = text.split(",").map((name) => name.trim());
  const wrong = names.find((name) => !isServerName(name));
  if (wrong !== undefined)
    throw new InvalidArgumentError(
      `${JSON.stringify(wrong)} is no host name or address: write central.example,10.8.0.1`,
    );
  return names;
}
