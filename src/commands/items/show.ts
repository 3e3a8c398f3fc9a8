import type { Command } from "commander";
import { OperatorError } from "../../errors.ts";
import { isKind, type Kind } from "../../kinds.ts";
import { methodsLines } from "../../meaning/device-words.ts";
import { plainLine } from "../../plain-text.ts";
import { deviceRecord } from "../../records/device.ts";
import type { ItemState, Store } from "../../store/store.ts";
import { addHelp, type CommandContext } from "../command.ts";
import { fold } from "../fold.ts";
import { addStoreOptions, type StoreOptions } from "../store-options.ts";
import { withStore } from "../with-store.ts";

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
  const state = await withStore(options, context, (store) => stateOf(store, name));
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
async function stateOf(store: Store, name: string): Promise<ItemState> {
  for (const { typename } of await store.itemTypes()) {
    const item = isKind(typename) ? await store.item(typename as Kind, name) : undefined;
    const state = item && (await store.itemState(item.key));
    if (state !== undefined) return state;
  }
  throw new OperatorError(`the inventory has no item ${name}`, "lintel items lists them");
}
