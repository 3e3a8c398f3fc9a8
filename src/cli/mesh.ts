import { type Command, Option } from "commander";
import { OperatorError } from "../base/errors.ts";
import { plainLine } from "../base/text.ts";
import { machineTimezone } from "../base/timezone.ts";
import { settingIn } from "../central/gateway-reports.ts";
import { loadParts } from "../config/gateway-config.ts";
import { type MeshScan, namesByAddress } from "../domain/mesh.ts";
import { meshFile, scansInFile } from "../domain/mesh-file.ts";
import { type MeshRow, type MeshWords, meshWords, qualityNote } from "../domain/mesh-words.ts";
import { ControlClient } from "../gateway/control-client.ts";
import { scansIn } from "../gateway/mesh-scans.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import type { ItemOverview } from "../store/store.ts";
import { shownStore } from "../store/visible-store.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { addStoreOptions, configurationOf, type StoreOptions, storePlace } from "./store-place.ts";
import { folding, momentText, printTable, type TableColumns } from "./terminal-text.ts";
import { withCentralStore, withStore } from "./with-store.ts";

/** `lintel mesh`: who is heard through whom. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel mesh": "ask the devices of this home now: up to some minutes",
      "lintel mesh --kept": "what the last scan found; a running gateway scans every six hours",
      "lintel mesh --home 12 --data /var/lib/lintel-central": "the same of a home, at central",
    },
    notes: [
      "Only devices with power of their own are asked: the stick, and routers such as plugs. Each names the devices that",
      "it hears. Without a running gateway it shows the scans that are kept.",
    ],
    exits: { 0: "shown, whether a link is weak or not" },
  });
  addStoreOptions(command)
    .option("--kept", "show the newest scan that is kept, and ask nobody")
    .addOption(
      new Option("--home <n>", "at central, the home by its number").argParser(wholeNumber(1, 999_999_999)),
    )
    .option("--json", "print the scans, newest first, and the sentences as JSON")
    .action((options: MeshCommandOptions) => mesh(options, context));
}

interface MeshCommandOptions extends StoreOptions {
  readonly kept?: boolean;
  readonly home?: number;
}

/** Scans of a home, and what is known beside them. */
interface Found {
  readonly scans: readonly MeshScan[];
  readonly items: readonly ItemOverview[];
  readonly zone: string;
}

async function mesh(options: MeshCommandOptions, context: CommandContext): Promise<void> {
  const { scans, items, zone } = await found(options, context);
  const words = meshWords({
    scans,
    nameOf: namesByAddress(items.map(({ record }) => [record.macaddress, record.itemname])),
    zone,
    timeText: momentText,
  });
  if (options.json) context.terminal.printJson({ scans, ...words });
  else if (words === undefined)
    context.terminal.say("No scan of the mesh is kept: run lintel mesh while the gateway runs.");
  else printWords(words, scans[0]?.at_ms ?? 0, context);
}

async function found(options: MeshCommandOptions, context: CommandContext): Promise<Found> {
  const place = storePlace(options);
  if ("database" in place || storedRole(place.directory) === "central") return atCentral(options, context);
  const { directory } = place;
  let scan: MeshScan | undefined;
  if (!options.kept) {
    if (!options.json) context.terminal.say("Asking the devices who hears whom …");
    scan = await new ControlClient(directory).scanMesh();
    if (scan === undefined)
      context.terminal.say("No gateway is running there: these are the scans that it kept.");
  }
  const items = await withStore(options, context, async (store) => (await shownStore(store)).itemOverviews());
  const kept = scansIn(directory);
  // A scan of a box that does not know the time is not kept.
  const scans = scan === undefined || scan.at_ms === kept[0]?.at_ms ? kept : [scan, ...kept];
  return { scans, items, zone: zoneOf(options) };
}

async function atCentral(options: MeshCommandOptions, context: CommandContext): Promise<Found> {
  const { home } = options;
  if (home === undefined)
    throw new OperatorError("this store is central's, and has many homes", "name one with --home N");
  return withCentralStore(options, context, async (store) => {
    const { timezone } = await settingIn(store)(home);
    const shown = await shownStore(store);
    if (shown.homes?.includes(home) === false) return { scans: [], items: [], zone: timezone };
    return {
      scans: scansInFile((await store.backups(home)).get(meshFile)),
      items: await shown.itemOverviews([home]),
      zone: timezone,
    };
  });
}

/** The time zone of the home; where no configuration has it, this machine's. */
function zoneOf(options: StoreOptions): string {
  const file = configurationOf(options);
  return file === undefined ? machineTimezone() : loadParts(file, "home").home.timezone;
}

function printWords(words: MeshWords, at_ms: number, context: CommandContext): void {
  const terminal = folding(context.terminal);
  const { print, colours } = terminal;
  // Names of models are the words of devices.
  print(colours.bold(plainLine(words.answer)));
  for (const { what, remedy } of words.needs)
    print(`${colours.yellow("!")} ${plainLine(words.needs.length === 1 ? remedy : `${what} ${remedy}`)}`);
  for (const text of [...words.carried, ...words.batteries, ...words.changes, words.channel ?? []].flat())
    print(`  ${plainLine(text)}`);
  print("");
  printTable(terminal, columns, words.rows);
  print("");
  print(colours.dim(`Asked ${momentText(at_ms)}. ${qualityNote}`));
}

const columns: TableColumns<MeshRow> = {
  device: ({ name }) => plainLine(name),
  "heard through": ({ through }) => plainLine(through ?? "nobody names it"),
  link: ({ quality }) => quality ?? undefined,
  back: ({ back }) => back ?? undefined,
  "at first": ({ first }) => first ?? undefined,
};
