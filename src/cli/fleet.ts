import type { Command } from "commander";
import { day_ms } from "../base/time.ts";
import { fleetOf } from "../central/fleet/fleet.ts";
import { stoppedReleases } from "../central/fleet/stopped-releases.ts";
import type { AcceptanceReport } from "../domain/acceptance.ts";
import type { BurnInReport } from "../domain/burn-in.ts";
import type { FleetHome } from "../domain/fleet-home.ts";
import type { FirmwareOfModel } from "../store/central/central-store.ts";
import { grafanaDashboard, prometheusRules } from "../web/metrics/prometheus.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addCentralOptions, type StoreOptions } from "./store-place.ts";
import type { Terminal } from "./terminal.ts";
import { bytesText, folding, printTable, spanText, type TableColumns } from "./terminal-text.ts";
import { withCentralStore } from "./with-store.ts";

/** `lintel fleet`: which homes need a visit. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel fleet --data /var/lib/lintel-central": "homes that need somebody, and why",
      "lintel fleet --database postgres://localhost/lintel --json": "for a monitor",
      "lintel fleet --firmware --data /var/lib/lintel-central":
        "which firmware the devices of each model have",
      "lintel fleet --prometheus-rules > /etc/prometheus/lintel.json":
        "alerting rules, for rule_files of Prometheus",
    },
    notes: [
      "A home is listed once it has a token to upload with. What it needs also stands in the alerts of its subjects.",
    ],
    exits: { 0: "shown, whether a home needs something or not" },
  });
  addCentralOptions(command)
    .option("--all", "list homes that need nothing too")
    .option(
      "--firmware",
      "list the firmware of devices by model instead, models with different firmware first",
    )
    .option("--prometheus-rules", "print alerting rules for Prometheus, made from the table of needs")
    .option("--grafana-dashboard", "print a dashboard for Grafana, to be imported there")
    .option("--json", "print every home as a JSON array, as GET /sync/v1/fleet answers it")
    .action((options: FleetOptions) => fleet(options, context));
}

interface FleetOptions extends StoreOptions {
  readonly all?: boolean;
  readonly firmware?: boolean;
  readonly prometheusRules?: boolean;
  readonly grafanaDashboard?: boolean;
}

async function fleet(options: FleetOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  if (options.prometheusRules) return terminal.printJson(prometheusRules());
  if (options.grafanaDashboard) return terminal.printJson(grafanaDashboard());
  if (options.firmware) return printFirmware(options, context);
  const now_ms = clock.now().unix_ms;
  const homes = await withCentralStore(options, context, (store) => fleetOf(store, now_ms));
  if (options.json) terminal.printJson(homes);
  else printFleet(homes, { terminal: folding(terminal), now_ms, all: options.all === true });
}

async function printFirmware(options: FleetOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const models = await withCentralStore(options, context, (store) => store.firmware());
  if (options.json) return terminal.printJson(models);
  if (models.length === 0) return terminal.say("No device tells its firmware.");
  const rows = models.flatMap(({ model, versions }) => versions.map((version) => ({ model, ...version })));
  printTable(terminal, firmwareColumns, rows);
  const mixed = models.filter(({ versions }) => versions.length > 1).length;
  terminal.print(`\n${mixed} of ${models.length} models ${mixed === 1 ? "has" : "have"} different firmware`);
}

const firmwareColumns: TableColumns<{ model: string } & FirmwareOfModel["versions"][number]> = {
  model: ({ model }) => model || "unknown",
  firmware: ({ firmware }) => firmware,
  "date code": ({ datecode }) => datecode ?? undefined,
  devices: ({ devices }) => devices,
  homes: ({ homes }) => {
    const more = homes.length - homes_named;
    return `${homes.slice(0, homes_named).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
  },
};

/** Homes that a line names. */
const homes_named = 10;

function printFleet(
  homes: readonly FleetHome[],
  { terminal, now_ms, all }: { terminal: Terminal; now_ms: number; all: boolean },
): void {
  const { print, colours } = terminal;
  if (homes.length === 0) {
    terminal.say("No home is expected yet: lintel token create NAME --scope sync --home ID lets one.");
    return;
  }
  const needing = homes.filter(({ needs }) => needs.length > 0);
  const shown = all ? homes : needing;
  if (shown.length > 0) {
    printTable(terminal, columnsAt(now_ms), shown, least);
    print("");
  }
  for (const { homeid, needs } of needing)
    for (const { message } of needs) print(`${colours.yellow("!")} home ${homeid}: ${message}`);
  for (const { homeid, strays } of homes)
    for (const { itemname, readings } of strays)
      print(
        colours.dim(
          `  home ${homeid} hears ${itemname}, which lives elsewhere by the inventory: ${readings} readings are kept apart (if it was there, import its home_inventory record)`,
        ),
      );
  for (const { homeid, replaced } of homes)
    for (const { itemname, by, at_ms } of replaced)
      print(
        colours.dim(
          `  home ${homeid}: ${itemname} was replaced by ${by} on ${new Date(at_ms).toISOString().slice(0, 10)}, and still is in the inventory (import its item as Decommissioned)`,
        ),
      );
  for (const { homeid, update } of homes)
    for (const { version, message, reason, at_ms } of update?.refusals ?? []) {
      if (now_ms - at_ms > refusal_shown_ms) continue;
      print(
        colours.dim(
          `  home ${homeid} ${reason === "went_back" ? "went back from" : "refused"} ${version ?? "a list of releases"}: ${message}`,
        ),
      );
    }
  const reported = homes.map(({ homeid, update }) => ({ home: homeid, refusals: update?.refusals ?? [] }));
  for (const { version, homes: back, why } of stoppedReleases(reported))
    print(
      `${version} is stopped, and no further box tries it: homes ${back.slice(0, homes_named).join(", ")} went back from it (${why}). Publish a newer release that mends this`,
    );
  const well = homes.length - needing.length;
  const hidden = all || well === 0 ? "" : colours.dim(" (--all lists them)");
  print(`${well} of ${homes.length} ${homes.length === 1 ? "home needs" : "homes need"} nothing${hidden}`);
}

/** A release that was refused longer ago is old news; --json has it. */
const refusal_shown_ms = 14 * day_ms;

/** Can be done without, the first first. */
const least = [
  "ring",
  "accepted",
  "burn-in",
  "strangers",
  "life used",
  "°C",
  "written a day",
  "version",
  "disk free",
  "clock off",
  "backlog",
];

function columnsAt(now_ms: number): TableColumns<FleetHome> {
  return {
    home: ({ homeid }) => homeid,
    "last upload": ({ last_upload_ms: last_ms }) =>
      last_ms === null ? "never" : `${spanText(now_ms - last_ms)} ago`,
    backlog: ({ backlog }) => backlog ?? undefined,
    "clock off": ({ clock_offset_ms: offset_ms }) => (offset_ms === null ? undefined : offsetText(offset_ms)),
    silent: ({ silent, items }) => (silent.length === 0 ? undefined : `${silent.length} of ${items}`),
    low: ({ low_batteries: low }) => (low.length === 0 ? undefined : String(low.length)),
    "disk free": ({ disk_free_bytes: bytes }) => (bytes === null ? undefined : bytesText(bytes)),
    "written a day": ({ disk_written_a_day_bytes: bytes }) => (bytes === null ? undefined : bytesText(bytes)),
    "life used": ({ disk_life_used_percent: percent }) => (percent === null ? undefined : `${percent} %`),
    "°C": ({ temperature_c }) => (temperature_c === null ? undefined : Math.round(temperature_c)),
    strangers: ({ strangers }) => strangers || undefined,
    version: ({ version, update }) =>
      update?.trying === undefined ? (version ?? undefined) : `${version} (tries ${update.trying})`,
    ring: ({ update }) => update?.ring,
    accepted: ({ acceptance }) => (acceptance === null ? undefined : acceptedText(acceptance)),
    "burn-in": ({ burn_in }) => (burn_in === null ? undefined : burnInText(burn_in)),
  };
}

function acceptedText({ finished_ms, faults, night }: AcceptanceReport): string {
  if (faults.length > 0) return "no";
  const date = new Date(finished_ms).toISOString().slice(0, 10);
  if (night === undefined) return date;
  return night.length === 0 ? `${date}, first night good` : `${date}, first night bad`;
}

function burnInText({ ended_ms, failed, changed }: BurnInReport): string {
  if (changed.length > 0) return `other ${changed.join(", ")}`;
  if (failed.length > 0) return `failed: ${failed.join(", ")}`;
  return new Date(ended_ms).toISOString().slice(0, 10);
}

function offsetText(offset_ms: number): string {
  const span = spanText(Math.abs(offset_ms));
  if (span === spanText(0)) return span;
  return `${offset_ms < 0 ? "-" : "+"}${span}`;
}
