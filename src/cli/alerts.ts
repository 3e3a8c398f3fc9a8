import { userInfo } from "node:os";
import type { Command } from "commander";
import { messageOf, OperatorError } from "../base/errors.ts";
import { AlertFiles, type AlertState } from "../central/alerts/alert-state.ts";
import { noticeSender, testNotice } from "../central/alerts/notice.ts";
import { isOpen } from "../central/alerts/outages.ts";
import { type AlertSettings, defaultAlertFile, readAlertSettings } from "../config/alert-settings.ts";
import { needRules } from "../domain/fleet-home.ts";
import type { Outage } from "../domain/outage.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { momentText, printTable, type TableColumns } from "./terminal-text.ts";

/** `lintel alerts`: whom central has told what homes need. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "sudo -u lintel-central lintel alerts list": "what is open, who knows, and what waits to be sent",
      "sudo -u lintel-central lintel alerts acknowledge 17 20-24": "somebody deals with these",
      "sudo -u lintel-central lintel alerts test": "a mail or a call to every recipient, at once",
    },
    notes: [
      "lintel central --alerts FILE sends the alerts. docs/alerts.md has the keys of the file.",
      "A message has numbers of homes and names of items, and nothing of people. Lintel is no medical device.",
    ],
    exits: { 0: "done", 1: "a test was not taken", 2: "bad settings, or no such alert" },
  });
  const option = ["--alerts <file>", "the file of alerts", defaultAlertFile] as const;
  command
    .command("list")
    .description("list open alerts, what waits to be sent, and what was given up")
    .option(...option)
    .option("--json", "print them as JSON")
    .action((options: AlertOptions) => list(options, context));
  command
    .command("acknowledge")
    .description("note that somebody deals with alerts: they are not passed on to lead")
    .argument("<ids...>", "numbers of alerts, or spans such as 20-24")
    .option(...option)
    .option("--by <name>", "who deals with them (default: the user of this machine)")
    .action((ids: string[], options: AlertOptions & { by?: string }) => acknowledge(ids, options, context));
  command
    .command("test")
    .description("send a test to every recipient")
    .option(...option)
    .action((options: AlertOptions) => sendTests(options, context));
}

interface AlertOptions {
  readonly alerts: string;
  readonly json?: boolean;
}

function stateOf({ directory }: AlertSettings): AlertState {
  try {
    const files = new AlertFiles(directory);
    const state = files.read();
    // Also those that central has not taken in yet.
    files.takeAcknowledgements(state);
    return state;
  } catch (thrown) {
    throw new OperatorError(
      `the state of alerts in ${directory} cannot be read (${messageOf(thrown)})`,
      "run this as the user of central: sudo -u lintel-central lintel alerts …",
    );
  }
}

async function list(options: AlertOptions, { terminal }: CommandContext): Promise<void> {
  const { outages, recipients, undelivered, left_out } = stateOf(readAlertSettings(options.alerts));
  const open = outages.filter(isOpen);
  if (options.json) return terminal.printJson({ open, recipients, undelivered, left_out });
  if (open.length === 0) terminal.say("No alert is open.");
  else printTable(terminal, outageColumns, open);
  for (const [to, { waiting }] of Object.entries(recipients))
    if (waiting !== undefined)
      terminal.print(
        `alerts to ${to} wait since ${momentText(waiting.made_ms)}: ${waiting.failure ?? "not tried yet"}`,
      );
  for (const { to, made_ms, failure } of undelivered)
    terminal.print(`alerts to ${to} of ${momentText(made_ms)} were given up: ${failure}`);
}

const outageColumns: TableColumns<Outage> = {
  id: ({ id }) => id,
  home: ({ home }) => home || undefined,
  need: ({ need }) => needRules[need].title,
  item: ({ item }) => item,
  since: ({ since_ms }) => momentText(since_ms),
  told: ({ told }) => Object.keys(told).join(", ") || undefined,
  "acknowledged by": ({ acknowledged }) => acknowledged?.by,
};

async function acknowledge(
  spans: readonly string[],
  options: AlertOptions & { readonly by?: string },
  { terminal, clock }: CommandContext,
): Promise<void> {
  const settings = readAlertSettings(options.alerts);
  const open = new Set(
    stateOf(settings)
      .outages.filter(isOpen)
      .map(({ id }) => id),
  );
  const ids = spans.flatMap((span) => idsOf(span, open));
  const files = new AlertFiles(settings.directory);
  const by = options.by ?? userInfo().username;
  for (const id of ids) files.acknowledge(id, by, clock.now().unix_ms);
  terminal.say(`${ids.length} ${ids.length === 1 ? "alert is" : "alerts are"} acknowledged by ${by}.`);
}

/** Open alerts of a span. @throws OperatorError where there are none, before anything is written */
function idsOf(text: string, open: ReadonlySet<number>): number[] {
  const [, from = "", to = from] = /^(\d{1,15})(?:-(\d{1,15}))?$/.exec(text) ?? [];
  const ids = [...open].filter((id) => from !== "" && id >= Number(from) && id <= Number(to));
  if (ids.length > 0) return ids;
  throw new OperatorError(`no open alert has the number ${text}`, "lintel alerts list shows the numbers");
}

async function sendTests(
  options: AlertOptions,
  { terminal, clock, exitWith }: CommandContext,
): Promise<void> {
  const settings = readAlertSettings(options.alerts);
  for (const warning of settings.warnings) terminal.say(warning);
  const send = noticeSender(settings, clock);
  let failed = 0;
  for (const recipient of settings.recipients) {
    const made = { settings, id: crypto.randomUUID(), now_ms: clock.now().unix_ms };
    try {
      await send(recipient, testNotice(recipient, made));
      terminal.print(`${recipient.to}: sent`);
    } catch (thrown) {
      failed += 1;
      terminal.print(`${recipient.to}: ${messageOf(thrown)}`);
    }
  }
  if (failed > 0) exitWith(1);
}
