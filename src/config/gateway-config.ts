import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { type Static, type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";
import { day_ms } from "../base/time.ts";
import { isTimezone, machineTimezone, timezoneMeant } from "../base/timezone.ts";
import type { WalkingLine } from "../domain/derived/walking-passes.ts";
import { remoteRequestNames } from "../domain/remote-request.ts";
import {
  isInTheOpen,
  isServerAddress,
  plainHttpWarning,
  type TlsSetting,
  tlsKeys,
  tlsSettingOf,
  tokenFileWarnings,
} from "./server-access.ts";
import {
  type Document,
  type DocumentKind,
  readDocument,
  tableFaults,
  unknownKey,
  valueFaults,
  where,
} from "./toml-document.ts";
import { faultOfLine, walkingLinesOf, walkingSection } from "./walking-line.ts";

/** Keys of `[upload]`. */
export const uploadSection = Type.Object({
  url: Type.String({ description: 'an address such as "https://central.example"' }),
  token_file: Type.String({ minLength: 1, description: "the path of a file" }),
  at: Type.Optional(Type.String({ description: 'a time of day such as "02:00"' })),
  bytes_per_second: Type.Optional(Type.Integer({ minimum: 1_000, maximum: 1_000_000_000 })),
  keep_days: Type.Optional(Type.Integer({ minimum: 7, maximum: 36_500 })),
  certificate: Type.Optional(Type.String({ minLength: 1, description: "the path of a PEM file" })),
});

/** Where a gateway sends its readings each night, and how. */
export interface UploadTarget {
  readonly url: string;
  /** Absolute paths: of the sync token, and of the certificate of a central that no authority vouches for. */
  readonly token_file: string;
  readonly certificate?: string;
  /** Time of day, in the time of the machine, as the timer has it: `02:00`; empty where no timer uploads. */
  readonly at: string;
  readonly bytes_per_s: number;
  /** Days of readings that stay on the gateway; absent: all of them. */
  readonly keep_days?: number;
}

/** A quarter of a slow home connection of 8 Mbit/s. A usual night is sent in a second, a year in minutes. */
export const default_bytes_per_s = 256 * 1024;

/** Without an upload for so long a person should check. One night may be missed: a box that was off, a connection that was down. */
export const upload_late_ms = 2.5 * day_ms;

/** A section as the file has it, with its defaults; paths are meant from `directory`. */
function uploadTargetOf(section: Static<typeof uploadSection>, directory: string): UploadTarget {
  const absolute = (path: string) => resolve(directory, path);
  const { url, token_file, at = "02:00", certificate, keep_days } = section;
  return {
    url,
    token_file: absolute(token_file),
    certificate: certificate && absolute(certificate),
    at,
    bytes_per_s: section.bytes_per_second ?? default_bytes_per_s,
    keep_days,
  };
}

/** Keys of `[update]`. */
const updateSection = Type.Object({
  manifest: Type.String({
    description: 'the address of a folder of releases, such as "https://central.example/releases"',
  }),
  ring: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  trial_seconds: Type.Optional(Type.Integer({ minimum: 10, maximum: 86_400 })),
  watch_seconds: Type.Optional(Type.Integer({ minimum: 0, maximum: 30 * 86_400 })),
  directory: Type.Optional(Type.String({ minLength: 1, description: "the path of a directory" })),
});

/** Where a gateway's releases come from, and how they are tried. docs/updates.md says what each is for. */
export interface UpdateTarget {
  /** The address of the folder that ./scripts/release has written. */
  readonly manifest: string;
  /** How many boxes have a release before this one may: it takes releases that are for this ring or a larger one. */
  readonly ring: number;
  /** The time within which a new release has to show that it serves, hears and uploads. */
  readonly trial_ms: number;
  /** For how long it is watched after that, before the release before is given up. */
  readonly watch_ms: number;
  /** Absolute path of the directory of releases. */
  readonly directory: string;
}

const default_ring = 500;
/** A sensor that is silent by night may speak in the morning only. */
const default_trial_s = 4 * 60 * 60;
/** A slow leak, or a driver that falls silent, shows within days. */
const default_watch_s = 3 * 24 * 60 * 60;
const defaultReleases = "/var/lib/lintel-releases";

/** A section as the file has it, with its defaults; a relative path is meant from `directory`. */
function updateTargetOf(section: Static<typeof updateSection>, directory: string): UpdateTarget {
  const { manifest, ring = default_ring, trial_seconds = default_trial_s } = section;
  const { watch_seconds = default_watch_s } = section;
  return {
    manifest,
    ring,
    trial_ms: trial_seconds * 1000,
    watch_ms: watch_seconds * 1000,
    directory: resolve(directory, section.directory ?? defaultReleases),
  };
}

/** Whether a text is the address of a folder of releases, over HTTP. */
export function isManifestAddress(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^https?:$/.test(url.protocol) && `${url.search}${url.hash}${url.username}` === "";
}

/** Keys of `[remote]`. */
const remoteSection = Type.Object({
  allow: Type.Array(
    Type.Union(
      remoteRequestNames.map((name) => Type.Literal(name)),
      { description: `one of ${remoteRequestNames.map((name) => `"${name}"`).join(", ")}` },
    ),
    { maxItems: 100, description: 'a list such as ["status", "fault-report"]; [] refuses all' },
  ),
  keys: Type.Array(
    Type.String({
      pattern: "^[\\w-]{43}$",
      description: "a text of 43 characters, as lintel remote key prints it",
    }),
    { maxItems: 5, description: "a list of texts that lintel remote key has printed" },
  ),
});

/** Requests that a gateway does, if one of these keys has signed them. */
export type RemoteSettings = Readonly<Static<typeof remoteSection>>;

/** A gateway's configuration, checked and with its defaults filled in. */
export interface Config {
  /** The file it was read from. */
  readonly file: string;
  /** Absolute path of the data directory; a relative one in the file is meant from where the file is. */
  readonly data: string;
  /** Whether the people of the home may pause the recording by the page `/recorded`, and write notes on time. */
  readonly home: {
    readonly id?: number;
    readonly timezone: string;
    readonly may_pause?: boolean;
    readonly may_note?: boolean;
  };
  readonly api: {
    readonly hostname: string;
    /** 0 takes a free port. */
    readonly port: number;
    readonly realm: string;
    /** Absent: plain HTTP. */
    readonly tls?: TlsSetting;
    /** Whether metrics are served. */
    readonly metrics?: boolean;
  };
  /** Where readings are sent each night; absent: nowhere. */
  readonly upload?: UploadTarget;
  /** Where newer releases come from; absent: nobody looks for any. */
  readonly update?: UpdateTarget;
  /** Requests from afar that it does; absent: none, and nobody asks central. */
  readonly remote?: RemoteSettings;
  /** Lines of curtain sensors on which walking speed is measured. */
  readonly walking: readonly WalkingLine[];
  /** Settings of each driver, by the driver's name; a driver without a section is off. */
  readonly drivers: ReadonlyMap<string, unknown>;
  /** Faults that do not prevent a start, one line each. */
  readonly warnings: readonly string[];
}

/** Where a configuration is looked for when none is named, first match wins. */
export const defaultConfigFiles = ["/etc/lintel/lintel.toml", "lintel.toml"] as const;

const defaultData = "/var/lib/lintel";

/** The data directory, and the keys of each section of the file; drivers add their own sections. */
const coreSchemas = {
  data: Type.String({ minLength: 1, description: "the path of a directory" }),
  home: Type.Object({
    id: Type.Optional(Type.Integer({ minimum: 1, description: "the number of the home, 1 or above" })),
    timezone: Type.Optional(Type.String({ description: 'a time zone name such as "Europe/Berlin"' })),
    may_pause: Type.Optional(Type.Boolean({ description: "true or false" })),
    may_note: Type.Optional(Type.Boolean({ description: "true or false" })),
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
  update: updateSection,
  remote: remoteSection,
  walking: walkingSection,
} as const;

/** The schema of each section of the file, and of what stands before them, by name: `sections` are those of the drivers. */
export function configurationSections(sections: ReadonlyMap<string, TSchema>): ReadonlyMap<string, TSchema> {
  const { data, ...core } = coreSchemas;
  return new Map<string, TSchema>([["data", data], ...sections, ...Object.entries(core)]);
}

const configuration: DocumentKind = {
  name: "configuration",
  option: "--config",
  checks: {
    "home.timezone": (zone) => isTimezone(zone) || (timezoneMeant(zone) ?? false),
    "api.listen": (value) => parseListen(value) !== undefined,
    "upload.url": isServerAddress,
    "update.manifest": isManifestAddress,
    "upload.at": (value) => /^([01]\d|2[0-3]):[0-5]\d$/.test(value),
    "*.port": isPort,
  },
};

/**
 * Reads and checks a whole configuration. `sections` has the schema of each driver's section, by name.
 *
 * @throws OperatorError that names file, line and key, with the values that are allowed there
 */
export function loadConfig(file: string, sections: ReadonlyMap<string, TSchema>): Config {
  const document = readDocument(file, configuration);
  for (const [, fault] of keyFaults(document, sections)) throw fault;
  const api = apiOf(document);
  return {
    file,
    data: parts.data(document),
    home: parts.home(document),
    api,
    upload: parts.upload(document),
    update: parts.update(document),
    remote: parts.remote(document),
    walking: parts.walking(document),
    drivers: new Map(
      [...sections.keys()]
        .filter((name) => Object.hasOwn(document.values, name))
        .map((name) => [name, document.values[name]]),
    ),
    warnings: [...warningsOf(document), ...openWarningsOf(document, api)],
  };
}

/** Reads a file that has the keys of a configuration, with which one is made; `option` names another. @throws OperatorError */
export function readDraft(file: string, option: string): Document {
  return readDocument(file, { ...configuration, name: "set-up", option });
}

/** Every fault of a document that `loadConfig` would throw the first of. */
export function configFaults(
  document: Document,
  sections: ReadonlyMap<string, TSchema>,
): readonly OperatorError[] {
  const found = [...keyFaults(document, sections)];
  const faulty = new Set(found.map(([key]) => key));
  const whole = Object.entries(parts).filter(([key]) => !faulty.has(key));
  return [...found.map(([, fault]) => fault), ...whole.flatMap(([, part]) => faultIn(() => part(document)))];
}

function faultIn(action: () => unknown): OperatorError[] {
  try {
    action();
    return [];
  } catch (thrown) {
    if (thrown instanceof OperatorError) return [thrown];
    throw thrown;
  }
}

/** Faults of keys and values, each by itself, with the outermost key that has it. */
function* keyFaults(
  document: Document,
  sections: ReadonlyMap<string, TSchema>,
): Generator<[key: string, fault: OperatorError]> {
  const known = configurationSections(sections);
  for (const key of Object.keys(document.values)) {
    const schema = known.get(key);
    if (schema === undefined) yield [key, unknownKey(document, [key], [...known.keys()])];
    else for (const fault of partFaults(document, key, schema)) yield [key, fault];
  }
}

/** Reads and checks parts of a configuration, for commands that need no more. Of the rest nothing is checked. @throws OperatorError */
export function loadParts<Part extends keyof typeof parts>(
  file: string,
  ...wanted: readonly Part[]
): Pick<Config, Part | "warnings"> {
  const document = readDocument(file, configuration);
  const values = wanted.map((part) => {
    if (document.values[part] !== undefined)
      for (const fault of partFaults(document, part, coreSchemas[part])) throw fault;
    return [part, parts[part](document)];
  });
  const warnings = (wanted as readonly string[]).includes("upload") ? warningsOf(document) : [];
  return { ...Object.fromEntries(values), warnings };
}

/** The file that a command without `--config` uses; undefined where there is none. */
export function findConfig(): string | undefined {
  return defaultConfigFiles.find((file) => existsSync(file));
}

/** The parts that commands ask for one by one, with their defaults; each from a document in which that part was checked. */
const parts = {
  api: apiOf,
  data: ({ file, values }: Document) =>
    resolve(dirname(resolve(file)), (values["data"] as string | undefined) ?? defaultData),
  home: ({ values }: Document) => {
    const { id, timezone, may_pause, may_note } = (values["home"] ?? {}) as Static<typeof coreSchemas.home>;
    return {
      id,
      timezone: timezone ?? machineTimezone(),
      ...(may_pause !== undefined && { may_pause }),
      ...(may_note !== undefined && { may_note }),
    };
  },
  upload: ({ file, values }: Document) => {
    const section = values["upload"] as Static<typeof uploadSection> | undefined;
    return section && uploadTargetOf(section, dirname(resolve(file)));
  },
  update: ({ file, values }: Document) => {
    const section = values["update"] as Static<typeof updateSection> | undefined;
    return section && updateTargetOf(section, dirname(resolve(file)));
  },
  remote: (document: Document) => {
    const remote = document.values["remote"] as RemoteSettings | undefined;
    if (remote === undefined) return undefined;
    const missing =
      parts.upload(document) === undefined
        ? "[upload]"
        : parts.home(document).id === undefined
          ? "[home] id"
          : undefined;
    if (missing !== undefined)
      throw new OperatorError(
        `${where(document, ["remote"])}: [remote] needs ${missing}`,
        "central is asked by [upload], and requests are signed for a home: add it, or remove [remote]",
      );
    return remote;
  },
  walking: (document: Document) => {
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
  },
};

/** Faults of the value of a key outside any section, or of a section. */
function partFaults(document: Document, key: string, schema: TSchema): Generator<OperatorError> {
  const faults = schema["type"] === "object" ? tableFaults : valueFaults;
  return faults(document, [key], schema, document.values[key]);
}

function apiOf(document: Document): Config["api"] {
  const api = (document.values["api"] ?? {}) as Static<typeof coreSchemas.api>;
  const listen = parseListen(api.listen ?? defaultListen);
  if (listen === undefined) throw new Error(`bad default ${defaultListen}`);
  const tls = tlsSettingOf(api, {
    directory: dirname(resolve(document.file)),
    nameOf: (key) => `api.${key}`,
  });
  if (tls !== undefined && "what" in tls)
    throw new OperatorError(`${where(document, ["api", tls.key])}: ${tls.what}`, tls.remedy);
  return { ...listen, realm: api.realm ?? "lintel", tls, metrics: api.metrics };
}

function warningsOf(document: Document): string[] {
  const upload = parts.upload(document);
  if (upload === undefined) return [];
  const plain = `${where(document, ["upload", "url"])}: uploads to ${upload.url} travel in the open, and the token with them: have central serve TLS (docs/tls.md), and write https`;
  return [
    ...tokenFileWarnings(upload.token_file, where(document, ["upload", "token_file"])),
    ...(isInTheOpen(upload.url) ? [plain] : []),
  ];
}

function openWarningsOf(document: Document, api: Config["api"]): string[] {
  const name = `${document.file}: [api] serves`;
  const remedy = 'set tls = "self-signed" in [api], or listen = "127.0.0.1:8080" behind a proxy';
  return [plainHttpWarning(api, api.tls, { name, remedy }) ?? []].flat();
}

const defaultListen = "0.0.0.0:8080";

function parseListen(listen: string): { hostname: string; port: number } | undefined {
  const match = /^(?:\[([\da-fA-F:.]+)\]|([\w.-]+)):(\d{1,5})$/.exec(listen);
  const hostname = match?.[1] ?? match?.[2];
  const port = Number(match?.[3]);
  return hostname === undefined || port > port_max ? undefined : { hostname, port };
}

/** A path, or `tcp://host:port` as ser2net offers. */
export function isPort(port: string): boolean {
  if (!port.includes("://")) return port !== "";
  const match = /^tcp:\/\/(?:\[[\da-fA-F:.]+\]|[\w.-]+):(\d{1,5})$/.exec(port);
  return match !== null && Number(match[1]) >= 1 && Number(match[1]) <= port_max;
}

const port_max = 65_535;
