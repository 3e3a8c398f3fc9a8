import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../errors.ts";
import { isTimezone, machineTimezone } from "../timezone.ts";
import { isServerAddress } from "./server-address.ts";
import { type TlsSetting, tlsKeys, tlsSettingOf } from "./tls-section.ts";
import {
  checkTable,
  checkValue,
  type Document,
  readDocument,
  type TextChecks,
  unknownKey,
  where,
} from "./toml-document.ts";
import { tokenFileWarning, type UploadTarget, uploadSection, uploadTargetOf } from "./upload-section.ts";
import { faultOfLine, type WalkingLine, walkingLinesOf, walkingSection } from "./walking-line.ts";

/** A gateway's configuration, checked and with its defaults filled in. */
export interface Config {
  /** The file it was read from. */
  readonly file: string;
  /** Absolute path of the data directory; a relative one in the file is meant from where the file is. */
  readonly data: string;
  readonly home: { readonly id?: number; readonly timezone: string };
  readonly api: {
    readonly hostname: string;
    /** 0 takes a free port. */
    readonly port: number;
    readonly realm: string;
    /** Absent: plain HTTP. */
    readonly tls?: TlsSetting;
    /** Present where metrics are to be served. */
    readonly metrics?: true;
  };
  /** Where readings are sent each night; absent: nowhere. */
  readonly upload?: UploadTarget;
  /** Lines of curtain sensors on which walking speed is measured. */
  readonly walking: readonly WalkingLine[];
  /** Settings of each driver, by the driver's name; a driver without a section is off. */
  readonly drivers: ReadonlyMap<string, unknown>;
  /** Faults that do not prevent a start, one line each. */
  readonly warnings: readonly string[];
}

/** Where a configuration is looked for when none is named, first match wins. */
export const defaultConfigFiles = ["/etc/lintel/lintel.toml", "lintel.toml"] as const;

export const defaultData = "/var/lib/lintel";

/** Keys of each section of the file; drivers add their own sections. */
const coreSections = {
  home: Type.Object({
    id: Type.Optional(Type.Integer({ minimum: 1, description: "the number of the home, 1 or above" })),
    timezone: Type.Optional(Type.String({ description: 'a time zone name such as "Europe/Berlin"' })),
  }),
  api: Type.Object({
    listen: Type.Optional(
      Type.String({ description: 'an address and a port such as "0.0.0.0:8080" or "[::]:8080"' }),
    ),
    realm: Type.Optional(
      Type.String({
        pattern: "^[\\w. -]{1,64}$",
        description: "a name of letters, digits, spaces, dots and dashes, at most 64",
      }),
    ),
    ...tlsKeys,
    metrics: Type.Optional(Type.Boolean({ description: "true to serve metrics at /metrics, or false" })),
  }),
  upload: uploadSection,
  walking: walkingSection,
} as const;

const dataSchema = Type.String({ minLength: 1, description: "the path of a directory" });

const configuration = { name: "configuration", option: "--config" } as const;

/** Checks of values beyond their type, by section and key; `*` is any section. */
const checks: TextChecks = {
  "home.timezone": isTimezone,
  "api.listen": (value) => parseListen(value) !== undefined,
  "upload.url": isServerAddress,
  "upload.at": (value) => /^([01]\d|2[0-3]):[0-5]\d$/.test(value),
  "*.port": isPort,
};

/**
 * Reads and checks a configuration. `sections` has the schema of each driver's section, by name.
 * Throws an OperatorError that names file, line and key and says what was expected there.
 */
export function loadConfig(file: string, sections: ReadonlyMap<string, TSchema>): Config {
  const document = readDocument(file, configuration);
  const known = new Map<string, TSchema>([...sections, ...Object.entries(coreSections)]);
  for (const [key, value] of Object.entries(document.values)) {
    const schema = known.get(key);
    if (key === "data") checkValue(document, ["data"], dataSchema, value, checks);
    else if (schema === undefined) throw unknownKey(document, [key], ["data", ...known.keys()]);
    else checkTable(document, [key], schema, value, checks);
  }
  const { home, api } = document.values as {
    home?: Static<typeof coreSections.home>;
    api?: Static<typeof coreSections.api>;
  };
  const listen = parseListen(api?.listen ?? defaultListen) ?? fail(`bad default ${defaultListen}`);
  return {
    file,
    data: dataOf(document),
    home: {
      ...(home?.id === undefined ? {} : { id: home.id }),
      timezone: home?.timezone ?? machineTimezone(),
    },
    api: {
      ...listen,
      realm: api?.realm ?? "lintel",
      ...tlsOf(document, api),
      ...(api?.metrics === true ? { metrics: true } : {}),
    },
    walking: linesOf(document),
    drivers: new Map(
      [...sections.keys()]
        .filter((name) => Object.hasOwn(document.values, name))
        .map((name) => [name, document.values[name]]),
    ),
    ...uploadOf(document),
  };
}

/** The settings that `lintel upload` needs; drivers' sections are not read. */
export function uploadDescriptionOf(
  file: string,
): Pick<Config, "file" | "data" | "upload" | "warnings"> &
  Partial<Pick<HomeDescription, "home" | "timezone">> {
  const document = readDocument(file, configuration);
  if (document.values["upload"] !== undefined)
    checkTable(document, ["upload"], coreSections.upload, document.values["upload"], checks);
  const { home, timezone } = checkedHomeOf(document);
  return {
    file,
    data: checkedDataOf(document),
    ...uploadOf(document),
    ...(home === undefined ? {} : { home }),
    ...(timezone === undefined ? {} : { timezone }),
  };
}

/** The data directory that a configuration names, with the rest of the file unread; for commands on a store. */
export function dataDirectoryOf(file: string): string {
  return checkedDataOf(readDocument(file, configuration));
}

/** The number of the home, where it is, and the lines in it. */
export interface HomeDescription {
  readonly home?: number;
  readonly timezone?: string;
  readonly walking: readonly WalkingLine[];
}

/**
 * Settings of the home and of its walking lines, for commands that interpret a store; drivers' sections are not read.
 */
export function homeDescriptionOf(file: string): HomeDescription {
  return checkedHomeOf(readDocument(file, configuration));
}

/** The file that a command without `--config` uses; undefined where there is none. */
export function findConfig(): string | undefined {
  return defaultConfigFiles.find((file) => existsSync(file));
}

function checkedDataOf(document: Document): string {
  if (document.values["data"] !== undefined)
    checkValue(document, ["data"], dataSchema, document.values["data"], checks);
  return dataOf(document);
}

function checkedHomeOf(document: Document): HomeDescription {
  for (const name of ["home", "walking"] as const)
    if (document.values[name] !== undefined)
      checkTable(document, [name], coreSections[name], document.values[name], checks);
  const home = document.values["home"] as Static<typeof coreSections.home> | undefined;
  return {
    ...(home?.id === undefined ? {} : { home: home.id }),
    ...(home?.timezone === undefined ? {} : { timezone: home.timezone }),
    walking: linesOf(document),
  };
}

function dataOf(document: Document): string {
  return resolve(
    dirname(resolve(document.file)),
    (document.values["data"] as string | undefined) ?? defaultData,
  );
}

function uploadOf(document: Document): Pick<Config, "upload" | "warnings"> {
  const section = document.values["upload"] as Static<typeof uploadSection> | undefined;
  if (section === undefined) return { warnings: [] };
  const upload = uploadTargetOf(section, dirname(resolve(document.file)));
  const warning = tokenFileWarning(upload.token_file);
  return {
    upload,
    warnings: warning === undefined ? [] : [`${where(document, ["upload", "token_file"])}: ${warning}`],
  };
}

function linesOf(document: Document): WalkingLine[] {
  const lines = walkingLinesOf(document.values["walking"] as Static<typeof walkingSection> | undefined);
  for (const line of lines) {
    const fault = faultOfLine(line);
    if (fault !== undefined)
      throw new OperatorError(
        `${where(document, ["walking", line.name])}: walking.${line.name} ${fault.what}`,
        fault.remedy,
      );
  }
  return lines;
}

function tlsOf(
  document: Document,
  api: Static<typeof coreSections.api> | undefined,
): Pick<Config["api"], "tls"> {
  const tls = tlsSettingOf(api ?? {}, dirname(resolve(document.file)));
  if (tls === undefined) return {};
  if ("what" in tls) throw new OperatorError(`${where(document, ["api", tls.key])}: ${tls.what}`, tls.remedy);
  return { tls };
}

const defaultListen = "0.0.0.0:8080";

function parseListen(listen: string): { hostname: string; port: number } | undefined {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(listen);
  const hostname = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return hostname === undefined || port > port_max ? undefined : { hostname, port };
}

/** A path, or `tcp://host:port` as ser2net offers. */
function isPort(port: string): boolean {
  if (!port.includes("://")) return port !== "";
  const match = /^tcp:\/\/(?:\[[\da-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/.exec(port);
  return match !== null && Number(match[1]) >= 1 && Number(match[1]) <= port_max;
}

function fail(message: string): never {
  throw new Error(message);
}

const port_max = 65_535;
