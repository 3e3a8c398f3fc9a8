import { type Command, InvalidArgumentError } from "commander";
import { OperatorError } from "../../base/errors.ts";
import { loadParts } from "../../config/gateway-config.ts";
import type { WalkingLine } from "../../domain/derived/walking-passes.ts";
import { givenHour, givenMetres, givenText, type NamedItem } from "../../store/inventory/given-names.ts";
import { normalAddress } from "../../store/inventory/item-names.ts";
import { addHelp, type CommandContext } from "../command.ts";
import { addDirectoryOptions, configurationOf, dataDirectory, type StoreOptions } from "../store-place.ts";
import { withUploadStore } from "../with-store.ts";

/** `lintel items name` and `replace`: what the people of the home call a device, and which one stands in its place. */
export function defineName(items: Command, context: CommandContext): void {
  const name = items
    .command("name <address> <name>")
    .description("call a device by the name that people use, and say in which room it is");
  addHelp(name, {
    examples: {
      'lintel items name 00:0d:6f:00:0a:50:de:03 "Kitchen door" --room Kitchen': "a door sensor",
      'lintel items name 00:0d:6f:00:0a:50:de:07 "Hall 2" --room Hall --metres 0.75':
        "a curtain sensor, 0.75 m from the end of its line",
      'lintel items name 5c:f2:86:41:0a:17 "Morning pills" --due 08:00':
        "a pill box, and when its dose is due",
    },
    notes: [
      "The name goes up to central with the next upload, as a proposal: where the programme's inventory names the device, that",
      "name is served. The earlier name leads nowhere from then on. The gateway may be running or not.",
    ],
  });
  addDirectoryOptions(name)
    .option("--room <room>", "the room that it is in; without it the one given before stays")
    .option(
      "--metres <metres>",
      "of a curtain sensor: how far it is from a fixed end of its room's line",
      metresIn,
    )
    .option("--due <hour>", "of a pill box: the hour for which its dose is prescribed, such as 08:00", hourIn)
    .option("--json", "print {kind, address, name, room, metres, due, itemname} as JSON")
    .action((address: string, text: string, options: NameOptions) =>
      nameDevice({ address, text }, options, context),
    );

  const replace = items
    .command("replace <old> <new>")
    .description("give the name and place of a broken device to the one that was put there for it");
  addHelp(replace, {
    examples: {
      'lintel items replace "Kitchen door" 00:0d:6f:00:0a:50:de:09': "the new one has joined already",
    },
    notes: [
      "Each is named by its address or its name. Each keeps its own readings: the old one is shown no",
      "more, and keeps its history under its first name. Where the inventory names the old one, it keeps that name",
      "until the inventory gives it to the new one.",
    ],
  });
  addDirectoryOptions(replace)
    .option("--json", "print {kind, address, name, room, metres, due, replaces, itemname} as JSON")
    .action((old: string, put: string, options: StoreOptions) => replaceDevice(old, put, options, context));
}

interface NameOptions extends StoreOptions {
  readonly room?: string;
  readonly metres?: number;
  readonly due?: string;
}

async function nameDevice(
  { address: written, text }: { address: string; text: string },
  options: NameOptions,
  context: CommandContext,
): Promise<void> {
  const address = normalAddress(written);
  if (address === undefined) throw new OperatorError("the address is empty", "lintel items shows addresses");
  const name = givenText(text, "name");
  const room = options.room === undefined ? undefined : givenText(options.room, "room");
  const { metres, due } = options;
  const giving = { address, name, room, metres, due, lines: linesFor(options) };
  const given_ms = context.clock.now().unix_ms;
  const named = await withUploadStore(dataDirectory(options), context, (store) =>
    store.nameItem({ ...giving, given_ms }),
  );
  tell(named, options, context, `${named.address} is called ${name} from now on.`);
}

async function replaceDevice(
  old: string,
  put: string,
  options: StoreOptions,
  context: CommandContext,
): Promise<void> {
  const replacing = { old, new: put, lines: linesFor(options), given_ms: context.clock.now().unix_ms };
  const named = await withUploadStore(dataDirectory(options), context, (store) =>
    store.replaceItem(replacing),
  );
  tell(
    named,
    options,
    context,
    `${named.address} is called ${named.name} from now on, in place of ${named.replaces}.`,
  );
}

function tell(named: NamedItem, options: StoreOptions, { terminal }: CommandContext, done: string): void {
  const { address, name, itemname } = named;
  if (options.json) terminal.printJson(named);
  else if (itemname === name) terminal.print(done);
  else
    terminal.print(
      `${name} is proposed for ${address}. It is called ${itemname} until the programme's inventory says otherwise.`,
    );
}

/** Lines of the configuration, as far as the options lead to one. */
function linesFor(options: StoreOptions): readonly WalkingLine[] {
  const file = configurationOf(options);
  return file === undefined ? [] : loadParts(file, "walking").walking;
}

function metresIn(text: string): number {
  return written(givenMetres, text);
}

function hourIn(text: string): string {
  return written(givenHour, text);
}

function written<Value>(given: (text: string) => Value, text: string): Value {
  try {
    return given(text);
  } catch (thrown) {
    throw new InvalidArgumentError(thrown instanceof OperatorError ? thrown.message : String(thrown));
  }
}
