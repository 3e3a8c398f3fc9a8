import { X509Certificate } from "node:crypto";
import { dirname, join, resolve } from "node:path";
import { type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../../base/errors.ts";
import { machineTimezone } from "../../base/timezone.ts";
import { configFaults, readDraft } from "../../config/gateway-config.ts";
import { isToken, tokenIn } from "../../config/server-access.ts";
import { type Document, tableFaults, where } from "../../config/toml-document.ts";
import { type Port, portsLike, portText } from "../serial-ports.ts";
import { isTable, type TomlValues } from "./configuration-text.ts";

/** The input of a set-up: all that it writes. */
export interface Wanted {
  /** Of the configuration. */
  readonly values: TomlValues;
  /** The token for central, where it is given. */
  readonly token?: string | undefined;
  /** Central's certificate in PEM, where it is given. */
  readonly certificate?: string | undefined;
  /** Whether setup may replace other settings of the box. */
  readonly replace: boolean;
}

/** Keys of `[setup]`, which only `lintel-home.toml` has. */
const setupSection = Type.Object({
  upload_token: Type.Optional(Type.String({ description: "the token that central made for this home" })),
  upload_certificate: Type.Optional(
    Type.String({ description: "central's own certificate in PEM, between two lines of three quotes" }),
  ),
  replace: Type.Optional(Type.Boolean({ description: "true to set up a box again with other settings" })),
});

type Setup = { upload_token?: string; upload_certificate?: string; replace?: boolean };

/**
 * Reads a file that has all that a home's gateway is set up with: the keys of a configuration and `[setup]`.
 *
 * @param options.configuration the file that is to be written; tokens and certificates go beside it
 * @param options.sections the schema of each driver's section
 * @param options.ports serial ports that are plugged in
 * @returns what is wanted, or every fault of the file
 * @throws OperatorError where there is no such file, or it is no TOML
 */
export function readHomeFile(
  file: string,
  options: {
    readonly configuration: string;
    readonly sections: ReadonlyMap<string, TSchema>;
    readonly ports: readonly Port[];
  },
): { readonly wanted: Wanted } | { readonly faults: readonly OperatorError[] } {
  const read = readDraft(file, "--file");
  const { setup = {}, ...given } = read.values;
  const faults = [...tableFaults(read, ["setup"], setupSection, setup)];
  const own = soundOf(setup);
  const found = withPorts({ ...read, values: given }, options);
  const values = withDefaults(found.values, own, options.configuration);
  const document = { ...read, values };
  faults.push(...found.faults, ...configFaults(document, options.sections));
  faults.push(...homeFaults(document), ...uploadFaults(document, own));
  if (faults.length > 0) return { faults };
  const { upload_token: token, upload_certificate: certificate, replace = false } = own;
  return { wanted: { values, token, certificate, replace } };
}

/** The keys that can be read, whatever the others are. A blank token is one that was taken out of the file. */
function soundOf(setup: unknown): Setup {
  if (!isTable(setup)) return {};
  const { upload_token: token, upload_certificate: certificate, replace } = setup;
  return {
    ...(typeof token === "string" && token.trim() !== "" ? { upload_token: token } : {}),
    ...(typeof certificate === "string" ? { upload_certificate: certificate } : {}),
    ...(typeof replace === "boolean" ? { replace } : {}),
  };
}

/** Values with those that every box has; nothing is added to what is no section. */
export function withDefaults(given: TomlValues, setup: Setup, configuration: string): TomlValues {
  const beside = (name: string) => join(dirname(resolve(configuration)), name);
  const filled: Record<string, unknown> = { data: "/var/lib/lintel", ...given };
  const add = (name: string, defaults: TomlValues) => {
    const section = filled[name] ?? {};
    if (isTable(section)) filled[name] = { ...defaults, ...section };
  };
  add("home", { timezone: machineTimezone() });
  const { api = {} } = given;
  const own_tls = isTable(api) && Object.keys(api).some((key) => key.startsWith("tls_c"));
  add("api", { listen: "0.0.0.0:8080", ...(own_tls ? {} : { tls: "self-signed" }) });
  if (given["upload"] === undefined) return filled;
  const { upload_certificate } = setup;
  const kept = upload_certificate === undefined ? {} : { certificate: beside("central.pem") };
  add("upload", { token_file: beside("upload-token"), ...kept });
  return filled;
}

/** Sections without a port get that of the only stick that is theirs, without a stick the only adapter of the kernel, and a port with `*` in it becomes the only one that is like it. */
function withPorts(
  document: Document,
  { sections, ports }: { sections: ReadonlyMap<string, TSchema>; ports: readonly Port[] },
): { values: TomlValues; faults: OperatorError[] } {
  const values: Record<string, unknown> = { ...document.values };
  const faults: OperatorError[] = [];
  for (const [name, schema] of sections) {
    const section = values[name];
    if (!isTable(section) || schema["properties"]?.port === undefined) continue;
    const { port } = section;
    const named = typeof port === "string" && port.includes("*");
    if (port !== undefined && !named) continue;
    const fitting = named ? portsLike(port, ports) : portsOf(name, ports);
    const [only, ...others] = fitting;
    if (only === undefined || others.length > 0) {
      const place = where(document, named ? [name, "port"] : [name]);
      faults.push(unclear({ name, place, fitting, ports, pattern: named ? port : undefined }));
      // No second fault for the same.
      values[name] = { ...section, port: "-" };
      continue;
    }
    const adapter = name === "zigbee" && only.stick?.adapter;
    values[name] = { ...(adapter ? { adapter } : {}), ...section, port: only.path };
  }
  return { values, faults };
}

/** The ports of a driver: those of sticks, and adapters of the kernel where there is no stick. */
function portsOf(driver: string, ports: readonly Port[]): Port[] {
  const known = ports.filter(({ stick }) => stick?.driver === driver);
  const sticks = known.filter(({ adapter }) => adapter === undefined);
  return sticks.length > 0 ? sticks : known;
}

function unclear(of: {
  name: string;
  place: string;
  fitting: readonly Port[];
  ports: readonly Port[];
  pattern: string | undefined;
}): OperatorError {
  const { name, place, fitting, ports, pattern } = of;
  const seen = ports.length === 0 ? "nothing is" : ports.map(portText).join("; ");
  const which =
    pattern === undefined ? `[${name}] names no port` : `${name}.port is ${JSON.stringify(pattern)}`;
  const what = pattern === undefined ? `known for [${name}]` : "like that";
  const many = fitting.length === 0 ? `nothing ${what} is plugged in` : `several ${what} are plugged in`;
  return new OperatorError(
    `${place}: ${which}, and ${many}`,
    `plug in the one that is meant, or write port = "/dev/serial/by-id/…" (plugged in: ${seen})`,
  );
}

/** A box without a number would be another home's, or nobody's, at central. */
function homeFaults(document: Document): OperatorError[] {
  const home = document.values["home"];
  if (!isTable(home) || home["id"] !== undefined) return [];
  return [
    new OperatorError(
      `${where(document, ["home"])}: [home] has no id`,
      "add id = … (its number in the programme)",
    ),
  ];
}

function uploadFaults(document: Document, setup: Setup): OperatorError[] {
  const upload = document.values["upload"];
  const { upload_token: token, upload_certificate: certificate } = setup;
  const faults: OperatorError[] = [];
  const at = (key: string) => `${where(document, ["setup", key])}: setup.${key}`;
  if (upload === undefined && (token ?? certificate) !== undefined) {
    const key = token === undefined ? "upload_certificate" : "upload_token";
    faults.push(new OperatorError(`${at(key)} is given, and there is no [upload]`, "add it, with url = …"));
  }
  if (token !== undefined && !isToken(token))
    faults.push(
      new OperatorError(`${at("upload_token")} is no token`, `write ${token_made}, and nothing else`),
    );
  if (certificate !== undefined && !isCertificate(certificate))
    faults.push(
      new OperatorError(
        `${at("upload_certificate")} is no certificate in PEM`,
        "write all of its lines, from BEGIN to END",
      ),
    );
  if (token !== undefined || !isTable(upload) || typeof upload["token_file"] !== "string") return faults;
  try {
    tokenIn(resolve(upload["token_file"]));
  } catch {
    const what = `${where(document, ["upload"])}: [upload] is given, and neither [setup] upload_token nor the file ${upload["token_file"]} has a token`;
    faults.push(new OperatorError(what, `add [setup] and upload_token = "…", with ${token_made}`));
  }
  return faults;
}

function isCertificate(text: string): boolean {
  try {
    new X509Certificate(text);
    return true;
  } catch {
    return false;
  }
}

const token_made = "what lintel token create NAME --scope sync --home ID printed at central";
