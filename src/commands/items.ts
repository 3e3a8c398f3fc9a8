import type { Command } from "commander";
import { ControlClient } from "../control/client.ts";
import type { Conflict } from "../identity.ts";
import { kindNames } from "../kinds.ts";
import type { ItemOverview } from "../store/store.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { fold } from "./fold.ts";
import { defineAdmission } from "./items/admission.ts";
import { defineConflicts, printConflicts } from "./items/conflicts.ts";
import { defineName } from "./items/name.ts";
import { defineShow } from "./items/show.ts";
import { momentText } from "./spans.ts";
import { addStoreOptions, type StoreOptions, storePlace } from "./store-options.ts";
import { printTable, type TableColumns } from "./table.ts";
import { withStore } from "./with-store.ts";

/** `lintel items`: the inventory, with when each item last had something to say; and who is let in by radio. */
export function define(command: Command, context: CommandContext): void {
  command.enablePositionalOptions();
  addHelp(command, {
    examples: {
      "lintel items": "a table",
      "lintel items --json": "for a script",
      "lintel items show hall-wall": "what is known of a device, and how its readings are made",
      "lintel items strangers": "devices that the gateway hears and does not listen to",
      "lintel items admit 54:48:e6:8f:80:a5": "listen to one of them",
      'lintel items name 54:48:e6:8f:80:a5 "Pill box" --room Kitchen': "say what people call it",
    },
    notes: ["A device that was let in is marked * until the inventory knows it."],
  });
  defineAdmission(command, context);
  defineConflicts(command, context);
  defineName(command, context);
  defineShow(command, context);
  addStoreOptions(command)
    .option("--json", "print them as a JSON array: the records that the API serves, with counts")
    .action((options: StoreOptions) => items(options, context));
}

/** Devices that claim to be one of the items, as the running gateway knows them. */
async function openConflicts(options: StoreOptions): Promise<readonly Conflict[]> {
  const place = storePlace(options);
  if ("database" in place) return [];
  const running = await new ControlClient(place.directory).statusIfRunning();
  return (running?.conflicts ?? []).filter(({ refused_ms }) => refused_ms === undefined);
}

async function items(options: StoreOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const overview = await withStore(options, context, (store) => store.overview());
  if (options.json) {
    terminal.printJson(
      overview.items.map(({ record, ...known }) => ({
        ...record,
        ...known,
        newest_ms: newest_ms(known) ?? null,
      })),
    );
    return;
  }
  if (overview.items.length === 0) {
    terminal.say("There are no items yet: lintel pair lets devices join a running gateway.");
    return;
  }
  printTable(terminal, columns, overview.items, dispensable);
  printConflicts(await openConflicts(options), terminal);
  const kinds = kindNames
    .map((kind) => ({ kind, count: overview.items.filter(({ record }) => record.typename === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`);
  const sum = `${kinds.join(", ")}; ${overview.last_seq} readings on disk`;
  for (const line of fold(sum, terminal.width)) terminal.say(terminal.errorColours.dim(line));
}

const columns: TableColumns<ItemOverview> = {
  item: itemName,
  type: ({ record }) => record.typename,
  subtype: subtypeOf,
  address: ({ record }) => record.macaddress ?? undefined,
  model: ({ record }) => record.modelname ?? undefined,
  device: ({ facts }) => facts?.description,
  status: ({ record }) => record.statusname ?? undefined,
  "last event": (item) => {
    const newest = newest_ms(item);
    return newest === undefined ? undefined : momentText(newest);
  },
  readings: readingsOf,
};
/** Can be done without, the first first. */
const dispensable = ["device", "model", "type", "status", "readings", "subtype"];

/** The item's name in a table, marked where the inventory does not know the item. */
export function itemName({ record, provisional }: ItemOverview): string {
  return `${record.itemname}${provisional ? "*" : ""}`;
}

export function subtypeOf({ record: { subtypename } }: ItemOverview): string | undefined {
  return subtypename === "null" ? undefined : subtypename;
}

/** Readings of all series of an item. */
export function readingsOf({ series }: ItemOverview): number {
  return series.reduce((sum, { count }) => sum + count, 0);
}

/** Stamp of the newest reading of any series of the item, unix milliseconds. */
export function newest_ms(item: Pick<ItemOverview, "series">): number | undefined {
  const stamps = item.series.map((series) => series.newest_ms);
  return stamps.length === 0 ? undefined : Math.max(...stamps);
}
