import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { Clock } from "../clock.ts";
import { onlyForOwn, type TlsFiles, type TlsSetting, tlsSettingOf } from "../config/tls-section.ts";
import { OperatorError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { CentralPlace } from "./central-place.ts";
import { nameList } from "./command.ts";
import { defaultCentralData } from "./store-options.ts";

/** The options for central's TLS, as a command received them. */
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
  const { tlsFilesOf } = await import("../tls/self-signed.ts");
  const ofData = "directory" in place ? place.directory : defaultCentralData;
  const directory = tlsDirectory === undefined ? ofData : resolve(tlsDirectory);
  return tlsFilesOf(tls, { directory, directorySetting: "--tls-directory", listen, clock, log });
}
