import type { Command } from "commander";
import { kindNames } from "../kinds.ts";
import type { ItemOverview } from "../store/store.ts";
import { withStore } from "./beside.ts";
import { type CommandContext, helpAfter } from "./command.ts";
import { fold } from "./fold.ts";
import { momentText } from "./spans.ts";
import { addStoreOptions, type StoreOptions } from "./store-options.ts";
import { table } from "./table.ts";

/** `lintel items`: the inventory, with when each item last had something to say. */
export function define(command: Command, context: CommandContext): void {
  addStoreOptions(command)
    .option("--json", "print them as a JSON array: the records that the API serves, with counts")
    .addHelpText(
      "after",
      helpAfter({
        examples: [
          ["lintel items", "a table"],
          ["lintel items --json", "for a script"],
        ],
        notes: ["A device that joined by itself is marked * until the inventory knows it."],
      }),
    )
    .action((options: StoreOptions & { json?: boolean }) => items(options, context));
}

async function items(options: StoreOptions & { json?: boolean }, context: CommandContext): Promise<void> {
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
  const { width, colours } = terminal;
  for (const line of table(itemHeadings, overview.items.map(itemRow), colours, { width, least }))
    terminal.print(line);
  const kinds = kindNames
    .map((kind) => ({ kind, count: overview.items.filter(({ record }) => record.typename === kind).length }))
    .filter(({ count }) => count > 0)
    .map(({ kind, count }) => `${count} ${kind}`);
  const sum = `${kinds.join(", ")}; ${overview.last_seq} readings on disk`;
  for (const line of fold(sum, width)) terminal.say(terminal.errorColours.dim(line));
}

const itemHeadings = ["item", "type", "subtype", "address", "model", "status", "last event", "readings"];
/** Can be done without, the first first. */
const least = ["model", "type", "status", "readings", "subtype"];

function itemRow(item: ItemOverview): (string | number | undefined)[] {
  const { record } = item;
  const newest = newest_ms(item);
  return [
    `${record.itemname}${item.provisional ? "*" : ""}`,
    record.typename,
    record.subtypename === "null" ? undefined : record.subtypename,
    record.macaddress ?? undefined,
    record.modelname ?? undefined,
    record.statusname ?? undefined,
    newest === undefined ? undefined : momentText(newest),
    item.series.reduce((sum, { count }) => sum + count, 0),
  ];
}

/** Stamp of the newest reading of any series of the item, unix milliseconds. */
export function newest_ms(item: Pick<ItemOverview, "series">): number | undefined {
  const stamps = item.series.map((series) => series.newest_ms);
  return stamps.length === 0 ? undefined : Math.max(...stamps);
}
