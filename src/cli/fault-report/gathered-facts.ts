import { readFileSync, statfsSync } from "node:fs";
import { arch, freemem, loadavg, release, totalmem, uptime } from "node:os";
import { parse } from "smol-toml";
import type { Clock } from "../../base/clock.ts";
import { factIn, namesIn } from "../../base/kernel-files.ts";
import { machineHealth } from "../../base/machine-health.ts";
import { machineTimezone } from "../../base/timezone.ts";
import type { GatewayStatus } from "../../gateway/gateway-status.ts";
import { databasePath, openForReading } from "../../store/sqlite/connection.ts";
import { storedRole } from "../../store/sqlite/role-and-epoch.ts";
import type { ItemOverview, Overview, Store } from "../../store/store.ts";
import { shownStore } from "../../store/visible-store.ts";
import type { CommandContext } from "../command.ts";
import { adapterPorts, pluggedIn, portText } from "../serial-ports.ts";
import { withStore, withUploadStore } from "../with-store.ts";
import type { Scrub } from "./scrub.ts";

/** The machine as every other of its kind is: nothing of it tells whose it is. */
export function machineFacts(directory: string) {
  return {
    model: factIn("/proc/device-tree/model")?.replaceAll("\0", "") ?? null,
    architecture: arch(),
    kernel: release(),
    system: /^PRETTY_NAME="?([^"\n]*)/m.exec(factIn("/etc/os-release") ?? "")?.[1] ?? null,
    bun: Bun.version,
    uptime_s: Math.round(uptime()),
    load: loadavg(),
    memory_bytes: { total: totalmem(), free: freemem() },
    disk: diskFacts(directory),
    health: machineHealth(directory),
  };
}

/** Serial ports and Bluetooth adapters by their kind, without what their names tell besides. */
export function sticks() {
  return {
    by_id: pluggedIn().map(({ stick }) => stick ?? "not known here"),
    adapters: adapterPorts().map(portText),
    devices: entries("/dev").filter((name) => /^tty(ACM|USB|AMA)\d+$/.test(name)),
    usb: entries("/sys/bus/usb/devices").flatMap((name) => {
      const id = (file: string) => factIn(`/sys/bus/usb/devices/${name}/${file}`);
      const [vendor, product] = [id("idVendor"), id("idProduct")];
      return vendor === undefined || product === undefined ? [] : [`${vendor}:${product}`];
    }),
  };
}

/** The clock, and how far the time of its place is from GMT in winter and in summer; which place that is stays out. */
export function clockFacts(clock: Clock) {
  const { unix_ms, monotonic_ms, quality } = clock.now();
  const timeZone = machineTimezone();
  const offset_minutes = [0, 6].map((month) => {
    const at = new Date(Date.UTC(new Date(unix_ms).getUTCFullYear(), month, 15));
    const there = new Date(at.toLocaleString("en-US", { timeZone }));
    return Math.round(
      (there.getTime() - new Date(at.toLocaleString("en-US", { timeZone: "UTC" })).getTime()) / 60_000,
    );
  });
  return { unix_ms, monotonic_ms, quality, cautions: clock.cautions?.() ?? [], offset_minutes };
}

function diskFacts(directory: string) {
  const { bsize, blocks, bavail, files, ffree, type } = statfsSync(directory);
  return { bytes: bsize * blocks, free_bytes: bsize * bavail, inodes: files, free_inodes: ffree, type };
}

function entries(directory: string): string[] {
  return namesIn(directory).sort().slice(0, entries_max);
}

const entries_max = 1_000;

/** The units of Lintel, as systemd lists them, each with its state; undefined where systemd does not run. */
export function unitStates(): Record<string, Record<string, string>> | undefined {
  const shown = printed("systemctl", [
    "show",
    "lintel*.service",
    "lintel*.timer",
    "--all",
    `--property=${properties}`,
  ]);
  if (shown === undefined) return undefined;
  const units = shown
    .trim()
    .split(/\n{2,}/)
    .map((block) => Object.fromEntries(block.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2))));
  return Object.fromEntries(
    units.flatMap(({ Id: id, ...facts }) =>
      /^lintel[\w-]*\.(service|timer)$/.test(id ?? "") ? [[id, facts]] : [],
    ),
  );
}

/** A line of the journal: when, of which unit, how grave (0 to 7), and its text. */
export interface JournalLine {
  readonly at: string;
  readonly unit: string;
  readonly priority: string;
  readonly text: string;
}

/** The last lines of the journal of Lintel's units, oldest first; undefined where there is none that this user may read. */
export function journal(): JournalLine[] | undefined {
  const shown = printed("journalctl", [
    "--unit=lintel*",
    `--lines=${lines_max}`,
    "--output=json",
    "--output-fields=MESSAGE,_SYSTEMD_UNIT,UNIT,PRIORITY",
    "--no-pager",
    "--quiet",
  ]);
  return shown
    ?.split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const { __REALTIME_TIMESTAMP: us, MESSAGE, _SYSTEMD_UNIT, UNIT, PRIORITY } = JSON.parse(line);
      const unit = String(UNIT ?? _SYSTEMD_UNIT ?? "");
      return {
        at: new Date(Number(us) / 1000).toISOString(),
        unit: /^lintel[\w-]*\.(service|timer)$/.test(unit) ? unit : "",
        priority: String(PRIORITY ?? ""),
        // A text that is no UTF-8 comes as bytes.
        text: typeof MESSAGE === "string" ? MESSAGE : Buffer.from(MESSAGE ?? []).toString("utf8"),
      };
    });
}

/** The last lines of a file, oldest first. */
export function lastLinesOf(text: string): string[] {
  return text.trimEnd().split("\n").slice(-lines_max);
}

function printed(program: string, words: readonly string[]): string | undefined {
  if (Bun.which(program) === null) return undefined;
  const run = Bun.spawnSync([program, ...words], { stderr: "ignore", timeout: ms_max, maxBuffer: bytes_max });
  return run.exitCode === 0 ? run.stdout.toString() : undefined;
}

const properties =
  "Id,LoadState,UnitFileState,ActiveState,SubState,Result,NRestarts,ExecMainCode,ExecMainStatus,ActiveEnterTimestamp,InactiveEnterTimestamp,MemoryCurrent";
const lines_max = 2_000;
const ms_max = 20_000;
const bytes_max = 32 * 1024 * 1024;

type TomlTable = Readonly<Record<string, unknown>>;

/**
 * A configuration without anything that is somebody's: numbers and switches stay, a text is told by its form. The home and lines of
 * curtain sensors, whose keys are names, are only counted.
 */
export function configurationForm(file: string, scrub: Scrub): unknown {
  const { home, walking, ...others } = parse(readFileSync(file, "utf8"));
  return {
    ...(home === undefined ? {} : { home: `${Object.keys(home).length} keys` }),
    ...(walking === undefined ? {} : { walking: `${Object.keys(walking).length} lines` }),
    ...formsOf(others, scrub),
  };
}

/** Keys are the program's words, but a table of Bluetooth keys has addresses for them, and a mistyped one may be anything. */
function formsOf(table: object, scrub: Scrub): TomlTable {
  return Object.fromEntries(Object.entries(table).map(([name, of]) => [scrub.key(name), formOf(of, scrub)]));
}

function formOf(value: unknown, scrub: Scrub): unknown {
  if (typeof value === "boolean" || typeof value === "number") return value;
  if (typeof value === "string") return settings.has(value) ? value : textForm(value);
  if (Array.isArray(value)) return `a list of ${value.length}`;
  if (typeof value !== "object" || value === null) return null;
  return formsOf(value, scrub);
}

function textForm(text: string): string {
  const scheme = /^([a-z]{2,8}):\/\//.exec(text)?.[1];
  if (scheme !== undefined) return `${scheme}://…`;
  const place = /^\/(dev\/serial\/by-id|dev|var\/lib\/lintel|etc\/lintel)\//.exec(text)?.[0];
  if (place !== undefined) return `${place}…`;
  if (/^([01]\d|2[0-3]):[0-5]\d$/.test(text)) return text;
  const port = /^(0\.0\.0\.0|127\.0\.0\.1|\[::\]):\d+$/.exec(text)?.[0];
  return port ?? `a text of ${text.length}`;
}

/** Values that the program defines. */
const settings: ReadonlySet<string> = new Set([
  ...["self-signed", "known", "all", "lintel", "/var/lib/lintel"],
  ...["zstack", "ember", "deconz", "zigate", "zboss", "zoh", "ezsp"],
]);

/** The running gateway's own word, without the addresses that it is reached by; null where none runs. */
export function gatewayFacts(running: unknown, scrub: Scrub): object | null {
  if (running === undefined || running === null) return null;
  if ("failed" in (running as object)) return running as object;
  const {
    url: _,
    listen: __,
    tls,
    strangers,
    store: ___,
    machine,
    version,
    ...others
  } = running as GatewayStatus;
  return {
    version,
    machine,
    tls: tls !== undefined,
    strangers: strangers.length,
    ...(scrub.value(others) as object),
  };
}

/** Sizes and counts of the store, and each item by a number. */
export async function storeFacts(directory: string, context: CommandContext, scrub: Scrub): Promise<object> {
  const factsOf = async (store: Store) => ({
    overview: await store.overview(),
    // A report goes to others, and nobody is told anything of a home that is restricted.
    items: await (await shownStore(store)).itemOverviews(),
  });
  const { overview, items, upload } =
    storedRole(directory) === "central"
      ? { ...(await withStore({ data: directory }, context, factsOf)), upload: null }
      : await withUploadStore(directory, context, async (store) => ({
          ...(await factsOf(store)),
          upload: await store.uploadState(),
        }));
  const { epoch: _, items: __, dropped, ...figures } = overview satisfies Overview;
  return {
    ...figures,
    dropped: Object.entries(dropped).map(([what, count]) => `${count} ${scrub.text(what)}`),
    upload: scrub.value(upload),
    rows: rowCounts(directory),
    items: items.slice(0, items_max).map((item) => itemFacts(item, scrub)),
  };
}

function itemFacts({ record, history, ...state }: ItemOverview, scrub: Scrub): object {
  const { typename, macaddress: address } = record;
  return {
    kind: typename,
    address: typeof address === "string" ? scrub.address(address) : null,
    ...(scrub.value(state) as object),
    history: scrub.value(history ?? null),
  };
}

/** Rows of each table, up to `rows_max`. */
function rowCounts(directory: string): Record<string, number> {
  const database = openForReading(databasePath(directory));
  try {
    const tables = database
      .query("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
      .values()
      .flat();
    const count = (table: string) =>
      Number(
        database.query(`SELECT count(*) FROM (SELECT 1 FROM "${table}" LIMIT ${rows_max})`).values()[0]?.[0],
      );
    return Object.fromEntries(tables.map((table) => [String(table), count(String(table))]));
  } finally {
    database.close();
  }
}

const items_max = 500;
const rows_max = 100_000;
