import { userInfo } from "node:os";
import type { Command } from "commander";
import { OperatorError } from "../base/errors.ts";
import { restricts } from "../store/pause.ts";
import { restrict as restrictNow } from "../store/pause-requests.ts";
import type { JournalEntry } from "../store/restriction.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { addPauseOptions, type PauseOptions, withPausable } from "./pause.ts";
import { momentText, printTable, type TableColumns } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel restrict`: what was collected is kept and shown to nobody, and nothing more is recorded. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      'lintel restrict --home 12 --reason "letter of 3 May" --data /var/lib/lintel-central':
        "nobody sees anything of home 12 any more, and nothing more is recorded there",
      'lintel restrict --subject 7 --reason "letter of 3 May" --data /var/lib/lintel-central':
        "the same of every home where participant 7 is or was enrolled",
      'lintel restrict --lift --home 12 --reason "board, 9 June" --data /var/lib/lintel-central':
        "its data are seen again; recording stays stopped until lintel resume --again",
      "lintel restrict --list --data /var/lib/lintel-central":
        "restricted homes, and the journal: who restricted, lifted or looked, and why",
    },
    notes: [
      "A server may be running on the store: its next answer has nothing of the home. The box does the same as soon as it hears of it, as of a pause.",
      "A token of lintel token create --restricted sees restricted homes, and the journal has each use of it.",
      "Files that were downloaded before, and backups, stay as they are: docs/consent.md.",
    ],
    exits: { 0: "done, or shown", 2: "bad arguments: nothing changed" },
  });
  addPauseOptions(command)
    .option("--subject <number>", "a participant", wholeNumber(0, Number.MAX_SAFE_INTEGER))
    .option("--reason <text>", "why, for the journal")
    .option("--lift", "lift the restriction instead")
    .option("--list", "show what is restricted, and the journal")
    .action((options: RestrictOptions) =>
      options.list ? list(options, context) : restrict(options, context),
    );
}

interface RestrictOptions extends PauseOptions {
  readonly reason?: string;
  readonly lift?: boolean;
  readonly list?: boolean;
}

async function restrict(options: RestrictOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { subject, home, lift = false, json } = options;
  const reason = options.reason?.trim() ?? "";
  if (reason === "" || reason.length > reason_max || /\p{Cc}/u.test(reason))
    throw new OperatorError(
      "the journal needs the reason",
      `give --reason with 1 to ${reason_max} characters on one line`,
    );
  if (subject !== undefined && home !== undefined)
    throw new OperatorError("the command names a home and a participant", "give one of --home and --subject");
  await withPausable(options, context, async ({ store, home: ofStore, clock }) => {
    const wish = {
      target: subject === undefined ? { home: ofStore } : { subject },
      who: process.env["SUDO_USER"] ?? userInfo().username,
      reason,
    };
    const homes = await (lift
      ? store.liftRestriction({ ...wish, at_ms: clock.now().unix_ms })
      : restrictNow(store, clock, wish));
    if (homes === undefined)
      throw new OperatorError(
        `this store knows of no home of participant ${subject}`,
        "look at the number, and at which store --data, --config or --database name; or give --home NUMBER",
      );
    if (json) return terminal.printJson({ [lift ? "lifted" : "restricted"]: homes.map(numberOf) });
    if (homes.length === 0) terminal.print("It was not restricted: nothing has changed.");
    for (const one of homes) {
      const whose = one === 0 ? "This home" : `Home ${one}`;
      terminal.print(
        lift
          ? `${whose} is not restricted any more: whoever could see it before sees it again. Nothing is recorded until lintel resume --again.`
          : `${whose} is restricted: what was recorded is kept and shown to nobody, and nothing more is recorded.`,
      );
    }
  });
}

/** Shows what is restricted, and the newest entries of the journal. */
async function list(options: RestrictOptions, context: CommandContext): Promise<void> {
  const { terminal } = context;
  const { homes, journal } = await withStore(options, context, async (store) => {
    const restricted = (await store.pauses()).filter(restricts);
    return {
      homes: restricted.map(({ home, from_ms }) => ({ home: numberOf(home), since_ms: from_ms })),
      journal: await store.journal(journal_max),
    };
  });
  if (options.json) return terminal.printJson({ restricted: homes, journal });
  if (homes.length === 0) terminal.say("Nothing is restricted.");
  for (const { home, since_ms } of homes)
    terminal.print(
      `${home === null ? "This home" : `Home ${home}`} has been restricted since ${momentText(since_ms)}.`,
    );
  if (journal.length > 0) printTable(terminal, columns, journal);
}

const columns: TableColumns<JournalEntry> = {
  when: ({ at_ms }) => momentText(at_ms),
  what: ({ act }) => act,
  home: ({ home }) => home || undefined,
  subject: ({ subject }) => subject,
  who: ({ who }) => who,
  why: ({ words }) => words,
};

/** A gateway does not tell the number of its home. */
function numberOf(home: number): number | null {
  return home === 0 ? null : home;
}

const reason_max = 500;
const journal_max = 10_000;
