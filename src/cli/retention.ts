import type { Command } from "commander";
import { noticesByPlan, plannedRetention } from "../central/retention.ts";
import { defaultRetentionFile, readRetentionSettings } from "../config/retention-settings.ts";
import type { PlannedRetention } from "../store/retention.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { addCentralOptions, type StoreOptions } from "./store-place.ts";
import { printTable, type TableColumns } from "./terminal-text.ts";
import { withCentralStore } from "./with-store.ts";

/** `lintel retention`: what central will restrict or erase by itself, and when. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel retention --data /var/lib/lintel-central": "whose data, when, and on how many days it was told",
      "lintel retention --retention new.toml --data /var/lib/lintel-central":
        "the same as another file would have it",
    },
    notes: [
      "It changes nothing: lintel central --retention FILE does. To keep data longer, change the file, or import an enrollment that has not ended.",
    ],
    exits: { 0: "shown, whether something is due or not" },
  });
  addCentralOptions(command)
    .option("--retention <file>", "the file of the retention", defaultRetentionFile)
    .option("--json", "print it as a JSON array")
    .action((options: RetentionOptions) => retention(options, context));
}

interface RetentionOptions extends StoreOptions {
  readonly retention: string;
}

async function retention(options: RetentionOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const settings = readRetentionSettings(options.retention);
  const rows = await withCentralStore(options, context, async (store) => {
    const noticeOf = noticesByPlan(await store.retentionNotices());
    return (await plannedRetention(store, settings)).map((one) => ({
      ...one,
      told_days: noticeOf(one)?.days ?? 0,
    }));
  });
  if (options.json)
    return terminal.printJson(
      rows.map(({ subject, home, due_ms, act: action, told_days }) => ({
        ...(subject === -1 ? {} : { subject }),
        ...{ home, due_ms, action, told_days },
      })),
    );
  if (rows.length === 0) return terminal.say("Nobody's enrollment has ended: nothing is due.");
  printTable(terminal, columns, rows);
  terminal.say(
    `Each is done once central has told it on more than ${settings.notice_days} days, and not before its date.`,
  );
}

const columns: TableColumns<PlannedRetention & { readonly told_days: number }> = {
  whose: ({ home, subject }) => (subject === -1 ? `home ${home}` : `subject ${subject}`),
  "not before": ({ due_ms }) => new Date(due_ms).toISOString().slice(0, 10),
  action: ({ act }) => act,
  "told on days": ({ told_days }) => told_days || undefined,
};
