import { userInfo } from "node:os";
import type { Command } from "commander";
import { OperatorError } from "../../base/errors.ts";
import { plainLine } from "../../base/text.ts";
import { type Conflict, conflictText } from "../../domain/identity.ts";
import type { Stranger } from "../../domain/reading.ts";
import { ControlClient } from "../../gateway/control-client.ts";
import { noConflict } from "../../gateway/ingest/device-identities.ts";
import { admitted_max } from "../../store/gateway/gateway-store.ts";
import type { UploadStore } from "../../store/gateway/upload-store.ts";
import { normalAddress } from "../../store/inventory/item-names.ts";
import { addHelp, type CommandContext } from "../command.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "../store-place.ts";
import type { Terminal } from "../terminal.ts";
import { fold, momentText, printTable, spanText, type TableColumns } from "../terminal-text.ts";
import { withUploadStore } from "../with-store.ts";

/** `lintel items admit`, `forget` and `strangers`: which devices heard by radio a gateway listens to. */
export function defineAdmission(items: Command, context: CommandContext): void {
  const admit = items
    .command("admit <address>")
    .description("admit a device that the radio hears, from now on");
  addHelp(admit, {
    examples: {
      "lintel items admit 54:48:e6:8f:80:a5":
        "a pill box, a scale or a watch of this home, or a sensor of another hub",
    },
    notes: [
      "Devices of the inventory, those with a key in [ble] and those of a Zigbee network need it not. What was heard before",
      "is not recorded. The gateway may be running or not.",
    ],
  });
  addDirectoryOptions(admit)
    .option("--json", "print {address, admitted} as JSON")
    .action((address: string, options: StoreOptions) => admitDevice(address, options, context));

  const forget = items.command("forget <address>").description("listen no longer to an admitted device");
  addHelp(forget, {
    examples: { "lintel items forget 54:48:e6:8f:80:a5": "it was the neighbours'" },
    notes: [
      "What was recorded of it stays, under its item. The device that comes next with this address is a new one, whatever",
      "its key, model or kind.",
    ],
  });
  addDirectoryOptions(forget)
    .option("--json", "print {address, admitted} as JSON")
    .action((address: string, options: StoreOptions) => forgetDevice(address, options, context));

  const strangers = items
    .command("strangers")
    .description("list the devices that the running gateway hears and does not listen to");
  addDirectoryOptions(strangers)
    .option("--json", "print them as a JSON array")
    .action((options: StoreOptions) => listStrangers(options, context));
}

async function admitDevice(written: string, options: StoreOptions, context: CommandContext): Promise<void> {
  const address = addressIn(written);
  const change = async (store: UploadStore) => {
    const { admitted } = await store.admissions();
    const others = admitted.filter((one) => one.reason === "hand" && one.address !== address);
    if (others.length >= admitted_max)
      throw new OperatorError(
        `${admitted_max} devices were admitted already`,
        "forget those that are not of this home with lintel items forget ADDRESS",
      );
    await store.admit([{ address, admitted_ms: context.clock.now().unix_ms, reason: "hand" }]);
  };
  await changeAdmissions(options, context, change);
  const { terminal } = context;
  if (options.json) terminal.printJson({ address, admitted: true });
  else terminal.print(`${address} is admitted: what it says from now on is recorded.`);
}

async function forgetDevice(written: string, options: StoreOptions, context: CommandContext): Promise<void> {
  const address = addressIn(written);
  const change = async (store: UploadStore) => {
    const { inventory } = await store.admissions();
    if (inventory.some((device) => device.address === address))
      throw new OperatorError(
        `${address} is in the inventory, which admits every device that it lists`,
        "remove the address from its item there",
      );
    if (!(await store.forgetDevice(address)))
      throw new OperatorError(
        `${address} was not admitted, and is not known`,
        "see lintel items; a device that [ble] names, by a key or in allow, is let in by that",
      );
  };
  await changeAdmissions(options, context, change, address);
  const { terminal } = context;
  if (options.json) terminal.printJson({ address, admitted: false });
  else terminal.print(`${address} is forgotten: it is no longer listened to. What was recorded of it stays.`);
}

/** Changes the store, beside the gateway where one is running, and tells that. */
async function changeAdmissions(
  options: StoreOptions,
  context: CommandContext,
  change: (store: UploadStore) => Promise<void>,
  forgotten?: string,
): Promise<void> {
  const directory = dataDirectory(options);
  await withUploadStore(directory, context, change);
  await new ControlClient(directory).admissionsChanged({ forgotten });
}

async function listStrangers(options: StoreOptions, { terminal, clock }: CommandContext): Promise<void> {
  const directory = dataDirectory(options);
  const running = await new ControlClient(directory).statusIfRunning();
  if (running === undefined)
    throw new OperatorError(
      `no gateway is running on ${directory}, and only a running one hears strangers`,
      "start one with lintel run, or name the right one with --config FILE or --data DIR",
    );
  const { strangers } = running;
  if (options.json) {
    terminal.printJson(strangers.map(({ device, ...heard }) => ({ ...device, ...heard })));
    return;
  }
  if (strangers.length === 0) {
    terminal.say("No device is heard that the gateway does not listen to.");
    return;
  }
  printTable(terminal, columnsAt(clock.now().unix_ms), strangers, least);
  terminal.say("");
  terminal.say("lintel items admit ADDRESS has the gateway listen to one that is of this home.");
}

/** The columns of a table of strangers. */
export function columnsAt(now_ms: number): TableColumns<Stranger> {
  return {
    address: ({ device }) => device.address,
    type: ({ device }) => device.kind,
    subtype: ({ device }) => device.subtype,
    model: ({ device }) =>
      [device.vendor, device.model].filter((word) => word !== undefined).join(" ") || undefined,
    "first heard": ({ first_ms }) => momentText(first_ms),
    "last heard": ({ last_ms }) => `${spanText(now_ms - last_ms)} ago`,
    times: ({ count }) => count,
    signal: ({ signal_dbm }) => (signal_dbm === undefined ? undefined : `${signal_dbm} dBm`),
  };
}
/** Can be done without, the first first. */
const least = ["subtype", "first heard", "model", "times", "type"];

/** @throws OperatorError where it is no hardware address */
function addressIn(written: string): string {
  const address = normalAddress(written) ?? "";
  if (/^[0-9a-f]{2}((:[0-9a-f]{2}){5}|(:[0-9a-f]{2}){7})$/.test(address)) return address;
  throw new OperatorError(
    `${JSON.stringify(written)} is not the address of a device`,
    "write six pairs of hex digits, such as 54:48:e6:8f:80:a5, or the eight of a Zigbee or Z-Wave sensor; lintel items strangers shows them",
  );
}

/** `lintel items conflicts`, `accept` and `refuse`: devices that claim to be another one, and who they are. */
export function defineConflicts(items: Command, context: CommandContext): void {
  const conflicts = items
    .command("conflicts")
    .description("list devices that claim the address of a known one, with another key, model or kind");
  addDirectoryOptions(conflicts)
    .option("--json", "print them as a JSON array")
    .action((options: StoreOptions) => listConflicts(options, context));
  for (const [verb, answer, description, done] of [
    [
      "accept",
      "accepted",
      "accept the device that claims an address, instead of the known one",
      "is that device from now on: what it says is recorded, and the one before it is refused",
    ],
    [
      "refuse",
      "refused",
      "keep refusing the device that claims an address",
      "stays as it was known; the other is refused, and only counted",
    ],
  ] as const) {
    const command = items.command(`${verb} <address>`).description(description);
    addHelp(command, {
      examples: { [`lintel items ${verb} 54:48:e6:8f:80:a5`]: "the one that lintel items conflicts shows" },
      notes: ["Who said so, and when, is kept. The gateway may be running or not."],
    });
    addDirectoryOptions(command)
      .option("--json", "print {address, answer, why} as JSON")
      .action(async (written: string, options: StoreOptions) => {
        const address = normalAddress(written) ?? written;
        const { why } = await settle(address, answer, options, context);
        if (options.json) context.terminal.printJson({ address, answer, why });
        else context.terminal.print(`${plainLine(address)} ${done}.`);
      });
  }
}

async function settle(
  address: string,
  answer: "accepted" | "refused",
  options: StoreOptions,
  context: CommandContext,
): Promise<Conflict> {
  const directory = dataDirectory(options);
  const by = userInfo().username;
  const settled = await new ControlClient(directory).settleConflict(address, answer, by);
  if (settled !== undefined) return settled;
  return withUploadStore(directory, context, async (store) => {
    const { conflicts } = await store.identities();
    const conflict = conflicts.find(({ known }) => known.address === address);
    if (conflict === undefined) throw noConflict(address);
    await store.settleConflict({ conflict, answer, at_ms: context.clock.now().unix_ms, by });
    return conflict;
  });
}

async function listConflicts(options: StoreOptions, context: CommandContext): Promise<void> {
  const directory = dataDirectory(options);
  const running = await new ControlClient(directory).statusIfRunning();
  const conflicts =
    running?.conflicts ??
    (await withUploadStore(directory, context, async (store) => (await store.identities()).conflicts));
  const { terminal } = context;
  if (options.json) terminal.printJson(conflicts);
  else if (conflicts.length === 0) terminal.say("No device claims to be another one.");
  else printConflicts(conflicts, terminal);
}

/** Each conflict, with what a person can do. */
export function printConflicts(conflicts: readonly Conflict[], terminal: Terminal): void {
  for (const conflict of conflicts) {
    const { known, refused_ms, refused_by, first_ms, last_ms, count } = conflict;
    const how =
      refused_ms === undefined
        ? `Known since ${momentText(known.since_ms)}. lintel items accept ${known.address} if it was reset or replaced, else lintel items refuse ${known.address}.`
        : `${refused_by} refused it on ${momentText(refused_ms)}.`;
    const text = `${conflictText(conflict)} First ${momentText(first_ms)}, last ${momentText(last_ms)}, ${count} times. ${how}`;
    for (const line of fold(plainLine(text), terminal.width)) terminal.print(line);
  }
}
