import type { Command } from "commander";
import { type FleetHome, fleetOf } from "../sync/fleet/fleet.ts";
import { withCentralStore } from "./beside.ts";
import { type CommandContext, helpAfter } from "./command.ts";
import { folding } from "./fold.ts";
import { bytesText, spanText } from "./spans.ts";
import { addCentralOptions, type StoreOptions } from "./store-options.ts";
import { table } from "./table.ts";
import type { Terminal } from "./terminal.ts";

/** `lintel fleet`: which homes need a visit. */
export function define(command: Command, context: CommandContext): void {
  addCentralOptions(command)
    .option("--all", "list homes that need nothing too")
    .option("--json", "print every home as a JSON array, as GET /sync/v1/fleet answers it")
    .addHelpText(
      "after",
      helpAfter({
        examples: [
          ["lintel fleet --data /var/lib/lintel-central", "homes that need somebody, and why"],
          ["lintel fleet --database postgres://localhost/lintel --json", "for a monitor"],
        ],
        notes: [
          "A home is listed once its gateway has uploaded anything, or was read. What it needs also stands in the alerts of its subjects.",
        ],
        exits: { 0: "shown, whether a home needs something or not" },
      }),
    )
    .action((options: FleetOptions) => fleet(options, context));
}

interface FleetOptions extends StoreOptions {
  readonly all?: boolean;
  readonly json?: boolean;
}

async function fleet(options: FleetOptions, context: CommandContext): Promise<void> {
  const { terminal, clock } = context;
  const now_ms = clock.now().unix_ms;
  const homes = await withCentralStore(options, context, (store) => fleetOf(store, now_ms));
  if (options.json) terminal.printJson(homes);
  else printFleet(homes, { terminal: folding(terminal), now_ms, all: options.all === true });
}

function printFleet(
  homes: readonly FleetHome[],
  { terminal, now_ms, all }: { terminal: Terminal; now_ms: number; all: boolean },
): void {
  const { print, colours, width } = terminal;
  if (homes.length === 0) {
    terminal.say("No home has uploaded yet: lintel token create NAME --scope sync --home ID lets one.");
    return;
  }
  const needing = homes.filter(({ needs }) => needs.length > 0);
  const shown = all ? homes : needing;
  if (shown.length > 0) {
    for (const line of table(
      headings,
      shown.map((home) => fleetRow(home, now_ms)),
      colours,
      { width, least },
    ))
      print(line);
    print("");
  }
  for (const { homeid, needs } of needing)
    for (const { message } of needs) print(`${colours.yellow("!")} home ${homeid}: ${message}`);
  const well = homes.length - needing.length;
  const hidden = all || well === 0 ? "" : colours.dim(" (--all lists them)");
  print(`${well} of ${homes.length} ${homes.length === 1 ? "home needs" : "homes need"} nothing${hidden}`);
}

const headings = ["home", "last upload", "backlog", "clock off", "silent", "low", "disk free", "version"];
/** Can be done without, the first first. */
const least = ["version", "disk free", "clock off", "backlog"];

function fleetRow(home: FleetHome, now_ms: number): (string | number | undefined)[] {
  const { last_upload_ms, clock_offset_ms, disk_free_bytes } = home;
  return [
    home.homeid,
    last_upload_ms === null ? "never" : `${spanText(now_ms - last_upload_ms)} ago`,
    home.backlog ?? undefined,
    clock_offset_ms === null ? undefined : offsetText(clock_offset_ms),
    home.silent.length === 0 ? undefined : `${home.silent.length} of ${home.items}`,
    home.low_batteries.length === 0 ? undefined : String(home.low_batteries.length),
    disk_free_bytes === null ? undefined : bytesText(disk_free_bytes),
    home.version ?? undefined,
  ];
}

function offsetText(offset_ms: number): string {
  const span = spanText(Math.abs(offset_ms));
  if (span === spanText(0)) return span;
  return `${offset_ms < 0 ? "-" : "+"}${span}`;
}
