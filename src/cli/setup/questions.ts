import { X509Certificate } from "node:crypto";
import { isIP } from "node:net";
import { dirname, join, resolve } from "node:path";
import { connect } from "node:tls";
import { adapterNames } from "../../../drivers/zigbee/adapters.ts";
import type { Clock } from "../../base/clock.ts";
import { readIfThere } from "../../base/disk/safe-files.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import { decodingBounds } from "../../base/json-decoder.ts";
import { day_ms } from "../../base/time.ts";
import { isTimezone, machineTimezone } from "../../base/timezone.ts";
import { default_bytes_per_s, isManifestAddress, isPort } from "../../config/gateway-config.ts";
import { isServerAddress, isToken } from "../../config/server-access.ts";
import { timezoneExpected } from "../../domain/records/record-field.ts";
import { CentralClient } from "../../transfer/central-client.ts";
import { TryAgainLater, UntrustedCertificate } from "../../web/client/http-request.ts";
import { type Port, portText } from "../serial-ports.ts";
import type { Terminal } from "../terminal.ts";
import type { Asker } from "./asker.ts";
import { isTable, type TomlValues } from "./configuration-text.ts";
import { type Wanted, withDefaults } from "./home-file.ts";

export interface Conversation {
  readonly asker: Asker;
  readonly terminal: Terminal;
  readonly clock: Clock;
  /** The file that is to be written. */
  readonly configuration: string;
  /** Its values where the box is set up: the usual answers, and what is not asked for. */
  readonly before: TomlValues;
  readonly ports: readonly Port[];
}

/** Asks for all that a set-up needs. @throws OperatorError where the answers end */
export async function askForAll(conversation: Conversation): Promise<Wanted> {
  const { asker, before, configuration } = conversation;
  const { id: old, timezone: zone = machineTimezone(), ...home } = tableIn(before, "home");
  const id = await asker.ask("The number of the home in the programme", wholeNumber, {
    usual: old?.toString(),
  });
  const timezone = await asker.ask(
    "Its time zone",
    (text) =>
      isTimezone(text) ? text : { why: `there is no such time zone: write ${timezoneExpected(text)}` },
    { usual: String(zone) },
  );
  const drivers = await askForPorts(conversation);
  const { upload, token, certificate } = await askForCentral(conversation, id);
  const update = await askForUpdates(conversation);
  const { upload: _, update: __, ...kept } = before;
  const others = Object.fromEntries(Object.entries(kept).filter(([name]) => !asked.has(name)));
  const given = {
    ...others,
    home: { ...home, id, timezone },
    ...drivers,
    ...(upload && { upload }),
    ...update,
  };
  const values = withDefaults(
    given,
    certificate === undefined ? {} : { upload_certificate: certificate },
    configuration,
  );
  return { values, token, certificate, replace: true };
}

/** Which stick is which: sections of drivers with their ports. */
async function askForPorts({ asker, terminal, ports, before }: Conversation): Promise<TomlValues> {
  if (ports.length > 0) terminal.print("Plugged in:");
  for (const [index, port] of ports.entries()) terminal.print(`  ${index + 1}  ${portText(port)}`);
  const sections: Record<string, TomlValues> = {};
  const old = tableIn(before, "zigbee");
  const serial = ports.filter(({ adapter }) => adapter === undefined);
  const known = serial.findIndex(({ stick }) => stick?.driver === "zigbee") + 1;
  const sticks = serial.filter(({ stick }) => stick?.driver === "zigbee");
  if (sticks.length > 1)
    terminal.print(
      terminal.colours.yellow(
        `  ${sticks.length} Zigbee sticks are plugged in, and a gateway uses one. Sensors know the stick with which they were paired: take that one, and unplug the other`,
      ),
    );
  const path = await asker.ask(
    `The Zigbee stick: ${serial.length > 0 ? "its number above, " : ""}a path, tcp://host:port, or none`,
    (text) => portIn(text, serial),
    { usual: old["port"]?.toString() ?? (known > 0 ? String(known) : "none") },
  );
  if (path !== undefined) {
    const { adapter: told } = ports.find((port) => port.path === path)?.stick ?? {};
    const usual = old["adapter"]?.toString() ?? "zstack";
    const adapter = told ?? (await asker.ask(`Its type: ${adapterNames.join(", ")}`, adapterIn, { usual }));
    const { baudrate: _, rtscts: __, ...kept } = old;
    // Settings of a line are those of the stick that was there.
    sections["zigbee"] = { ...(old["port"] === path ? old : kept), port: path, adapter };
  }
  for (const port of ports) {
    if (port.path === path) continue;
    const taken = Object.keys(before).find((name) => tableIn(before, name)["port"] === port.path);
    const known = port.adapter === undefined ? otherDrivers : (["ble"] as const);
    const answers = `${known.join(", ")} or none`;
    const driver = await asker.ask(
      `${port.path}: ${answers}`,
      (text) => known.find((name) => name === text) ?? (text === "none" ? text : { why: answers }),
      // An adapter of the kernel is in most machines, and using it costs Wi-Fi and a right: that is for a person to decide.
      { usual: taken ?? (port.stick?.driver === "ble" && port.adapter === undefined ? "ble" : "none") },
    );
    if (driver !== "none") sections[driver] = { ...tableIn(before, driver), port: port.path };
  }
  return sections;
}

/** The folder of releases that the box installs by itself, where it shall. */
async function askForUpdates({ asker, before }: Conversation): Promise<TomlValues> {
  const old = tableIn(before, "update");
  const manifest = await asker.ask(
    "The address of your programme's releases, for updates by night, or none",
    (text) => {
      if (text === "none") return undefined;
      return isManifestAddress(text)
        ? text
        : { why: 'an address such as "https://central.example/releases", or none' };
    },
    { usual: old["manifest"]?.toString() ?? "none" },
  );
  return manifest === undefined ? {} : { update: { ...old, manifest } };
}

interface CentralAnswer {
  readonly upload?: TomlValues;
  readonly token?: string;
  readonly certificate?: string | undefined;
}

/** Central's address and the token for it, tried until it takes that, or the person goes on without. */
async function askForCentral(conversation: Conversation, home: number): Promise<CentralAnswer> {
  const { asker, terminal, clock, before, configuration } = conversation;
  const old = tableIn(before, "upload");
  const token_file = resolve(
    dirname(configuration),
    String(old["token_file"] ?? join(resolve(dirname(configuration)), "upload-token")),
  );
  const keptToken = readIfThere(token_file)?.trim();
  let certificate = typeof old["certificate"] === "string" ? readIfThere(old["certificate"]) : undefined;
  for (let tries = 0; tries < tries_max; tries++) {
    const url = await asker.ask("Central's address, such as https://central.example, or none", addressIn, {
      usual: old["url"]?.toString() ?? "none",
    });
    if (url === undefined) return {};
    const token = await asker.ask(
      `The token that central made for this home${keptToken === undefined ? "" : " (Enter: the one that is kept)"}`,
      (text) =>
        isToken(text || (keptToken ?? "")) ? text || (keptToken ?? "") : { why: "that is no token" },
      { hidden: true },
    );
    const answer = () => ({
      upload: { ...old, url },
      token,
      certificate,
    });
    try {
      const untried = await tryCentral({ url, token, home, certificate }, clock);
      if (untried === undefined) terminal.print(terminal.colours.green("  central takes it"));
      if (untried === undefined || (await asker.yes(`${untried}. Keep it untried?`, "no"))) return answer();
    } catch (thrown) {
      if (!(thrown instanceof OperatorError)) throw thrown;
      terminal.print(terminal.colours.yellow(`  ${messageOf(thrown, 500)}`));
      if (thrown instanceof UntrustedCertificate) certificate = await askToTrust(conversation, url);
    }
  }
  throw new OperatorError("central refused every token", "nothing was changed: run this again");
}

/** The certificate that central shows, where the person finds it to be central's. */
async function askToTrust(
  { asker, terminal, clock }: Conversation,
  url: string,
): Promise<string | undefined> {
  const shown = await certificateAt(new URL(url), clock);
  if (shown === undefined) return undefined;
  terminal.print(`  Its SHA-256 fingerprint is ${shown.fingerprint256}`);
  const same = await asker.yes(
    "Ask whoever runs central for the fingerprint that lintel status shows there. Is it the same one? It is then trusted, and no other",
    "no",
  );
  return same ? shown.toString() : undefined;
}

/** The certificate that a server shows; undefined where it shows none within `show_ms_max`. */
function certificateAt({ hostname, port }: URL, clock: Clock): Promise<X509Certificate | undefined> {
  return new Promise((resolve) => {
    const host = hostname.replace(/^\[(.*)\]$/, "$1");
    const named = isIP(host) === 0 ? { servername: host } : {};
    const socket = connect({ host, port: Number(port || 443), rejectUnauthorized: false, ...named }, () => {
      const { raw } = socket.getPeerCertificate();
      resolve(raw === undefined ? undefined : new X509Certificate(raw));
      socket.destroy();
    });
    const cancel = clock.after(show_ms_max, () => socket.destroy());
    socket.on("error", () => resolve(undefined));
    socket.on("close", () => {
      cancel();
      resolve(undefined);
    });
  });
}

function wholeNumber(text: string) {
  return /^[1-9]\d{0,14}$/.test(text) ? Number(text) : { why: "a whole number, 1 or above" };
}

/** The path of a port; undefined where there shall be none. */
function portIn(text: string, ports: readonly Port[]) {
  if (text === "none") return undefined;
  const numbered = /^\d+$/.test(text) ? ports[Number(text) - 1] : undefined;
  if (numbered !== undefined) return numbered.path;
  if (/^(\/|tcp:)/.test(text) && isPort(text)) return text;
  return { why: "a number of the list, a path that begins with /, tcp://host:port, or none" };
}

function adapterIn(text: string) {
  return adapterNames.find((name) => name === text) ?? { why: `one of ${adapterNames.join(", ")}` };
}

function addressIn(text: string) {
  if (text === "none") return undefined;
  return isServerAddress(text) ? text : { why: 'an address such as "https://central.example", or none' };
}

function tableIn(values: TomlValues, name: string): TomlValues {
  const table = values[name];
  return isTable(table) ? table : {};
}

/** Drivers of the other sticks: a Bluetooth controller, the bridge of polled pill boxes, a watch on a wire. */
const otherDrivers = ["ble", "pillbox", "watch"] as const;
/** Sections that the answers alone decide on. */
const asked = new Set<string>(["zigbee", ...otherDrivers]);
const tries_max = 20;
const show_ms_max = 10_000;

/** A central that a set-up names. */
export interface CentralWanted {
  readonly url: string;
  readonly token: string;
  readonly home: number;
  readonly certificate: string | undefined;
}

/**
 * Asks central with the token, once. Nothing is sent or taken.
 *
 * @returns why it could not be asked now, which a later upload finds better or says again; undefined where it takes the token
 * @throws OperatorError where it refuses the token, knows it as another home's, or cannot be trusted
 */
export async function tryCentral(wanted: CentralWanted, clock: Clock): Promise<string | undefined> {
  const stop = AbortSignal.timeout(trial_ms_max);
  const central = new CentralClient({
    ...wanted,
    bytes_per_s: default_bytes_per_s,
    failures_max: 1,
    clock,
    random: () => 0,
    stop,
    onRetry: () => {},
  });
  try {
    // Readings that are yet to come: there are none, whatever home it is.
    const from = clock.now().unix_ms + 36_500 * day_ms;
    await central.ask({ method: "GET", path: "/history", query: { from }, answer: decodingBounds.sentBatch });
    return undefined;
  } catch (thrown) {
    if (thrown === stop.reason) return `${central.title} did not answer within ${trial_ms_max / 1000} s`;
    if (thrown instanceof TryAgainLater) return messageOf(thrown.what);
    throw thrown;
  }
}

const trial_ms_max = 30_000;
