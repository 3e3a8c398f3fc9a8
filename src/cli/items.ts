import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { plainLine } from "../base/text.ts";
import { deviceRecord } from "../domain/device-facts.ts";
import { methodsLines } from "../domain/device-words.ts";
import type { Conflict } from "../domain/identity.ts";
import { isKind, type Kind, kindNames } from "../domain/kinds.ts";
import { ControlClient } from "../gateway/control-client.ts";
import type { ItemOverview, ItemState } from "../store/store.ts";
import { shownStore, type VisibleStore } from "../store/visible-store.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { defineAdmission, defineConflicts, printConflicts } from "./items/item-admission.ts";
import { defineName } from "./items/item-name.ts";
import { addStoreOptions, type StoreOptions, storePlace } from "./store-place.ts";
import { fold, momentText, printTable, type TableColumns } from "./terminal-text.ts";
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
  const overview = await withStore(options, context, async (store) => ({
    ...(await store.overview()),
    items: await (await shownStore(store)).itemOverviews(),
  }));
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
  device: ({ history }) => history?.[0]?.facts.description,
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

/** `lintel items show`: the device of an item, and how its readings are made. */
export function defineShow(items: Command, context: CommandContext): void {
  const show = items
    .command("show <name>")
    .description("show what is known of a device, and how its readings are made");
  addHelp(show, {
    examples: {
      "lintel items show hall-wall": "one line for each fact",
      "lintel items show hall-wall --json": "as the API serves it",
    },
    notes: ["An item is named by its name or its number."],
  });
  addStoreOptions(show)
    .option("--json", "print it as JSON")
    .action((name: string, options: StoreOptions) => showItem(name, options, context));
}

async function showItem(name: string, options: StoreOptions, context: CommandContext): Promise<void> {
  const state = await withStore(options, context, async (store) => stateOf(await shownStore(store), name));
  const device = deviceRecord(state);
  const { terminal } = context;
  if (options.json) {
    terminal.printJson({ itemname: state.record.itemname, typename: state.record.typename, ...device });
    return;
  }
  const lines = [
    { title: "Item", value: state.record.itemname },
    ...(device.vendor === null ? [] : [{ title: "Made by", value: device.vendor }]),
    ...(device.model === null ? [] : [{ title: "Model", value: device.model }]),
    ...methodsLines(device),
  ];
  const widest = Math.max(...lines.map(({ title }) => title.length));
  for (const { title, value } of lines)
    for (const line of fold(`${title.padEnd(widest)}  ${plainLine(value)}`, terminal.width))
      terminal.print(line);
}

/** @throws OperatorError where no item has the name */
async function stateOf(store: VisibleStore, name: string): Promise<ItemState> {
  for (const { typename } of await store.itemTypes()) {
    const item = isKind(typename) ? await store.item(typename as Kind, name) : undefined;
    const state = item && (await store.itemState(item.key));
    if (state !== undefined) return state;
  }
  throw new OperatorError(`the inventory has no item ${name}`, "lintel items lists them");
}
