import { userInfo } from "node:os";
import type { Command } from "commander";
import { ControlClient } from "../../control/client.ts";
import { type Conflict, conflictText } from "../../identity.ts";
import { noConflict } from "../../ingest/identities.ts";
import { plainLine } from "../../plain-text.ts";
import { normalAddress } from "../../store/address.ts";
import { addHelp, type CommandContext } from "../command.ts";
import { fold } from "../fold.ts";
import { momentText } from "../spans.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "../store-options.ts";
import type { Terminal } from "../terminal.ts";
import { withUploadStore } from "../with-store.ts";

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
      "let the device that claims an address take the place of the known one",
      "is that device from now on: what it says is recorded, and the one before it is refused",
    ],
    [
      "refuse",
      "refused",
      "go on refusing the device that claims an address",
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
