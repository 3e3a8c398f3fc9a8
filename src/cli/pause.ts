import { type Command, InvalidArgumentError, Option } from "commander";
import type { Clock } from "../base/clock.ts";
import { OperatorError } from "../base/errors.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import { day_ms, hour_ms } from "../base/time.ts";
import { type Kind, kindNames, kinds } from "../domain/kinds.ts";
import { type Pause, type PausedSpan, type PauseReason, pauseOpen_ms } from "../store/pause.ts";
import { beginPause } from "../store/pause-requests.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import type { Store } from "../store/store.ts";
import { boxClock } from "./box-clock.ts";
import { addHelp, type CommandContext, wholeNumber } from "./command.ts";
import { addStoreOptions, type StoreOptions } from "./store-place.ts";
import { momentText } from "./terminal-text.ts";
import { withStore } from "./with-store.ts";

/** `lintel pause`: nothing of a home is recorded for a time, or until `lintel resume`. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel pause": "record nothing until lintel resume",
      "lintel pause --for 2h": "record nothing for two hours",
      "lintel pause --home 12 --data /var/lib/lintel-central":
        "at central: home 12 records nothing from now on",
    },
    notes: [
      "A server may be running on the store. What devices send of this time is counted and not kept, also what they have stored and are read of later.",
      "A pause that begins at central reaches the box within seconds if it has [remote], else with its next upload: central keeps nothing of that time, and the box removes what it has: docs/consent.md.",
    ],
    exits: { 0: "recording is paused", 2: "bad arguments, or the time is not known: nothing changed" },
  });
  addPauseOptions(command)
    .option("--for <duration>", "how long: 30m, 2h or 3d; else until lintel resume", duration_ms)
    .addOption(new Option("--kind <kind>", "only devices of this kind").choices([...kindNames]))
    .action((options: NewPauseOptions) => pause(options, context));
}

interface NewPauseOptions extends PauseOptions {
  readonly for?: number;
  readonly kind?: Kind;
}

export interface PauseOptions extends StoreOptions {
  readonly home?: number;
  /** Names the homes where a command has it. */
  readonly subject?: number;
}

/** Gives a command the options that name a store and a home, and `--json`. */
export function addPauseOptions(command: Command): Command {
  return addStoreOptions(command)
    .option("--home <number>", "the home, at central", wholeNumber(1, Number.MAX_SAFE_INTEGER))
    .option("--json", "print the pause as JSON");
}

async function pause(options: NewPauseOptions, context: CommandContext): Promise<void> {
  await withPausable(options, context, async ({ store, home, clock }) => {
    const { for: for_ms, kind } = options;
    const { pause: begun, isKnown } = await beginPause(store, clock, { home, for_ms, kind });
    say(begun, isKnown, options, context);
  });
}

function say(
  { from_ms, before_ms }: PausedSpan,
  isKnown: boolean,
  { json, home, kind }: NewPauseOptions,
  { terminal }: CommandContext,
): void {
  const until_ms = before_ms === pauseOpen_ms ? null : before_ms;
  if (json) {
    terminal.printJson({ home: home ?? null, ...(kind === undefined ? {} : { kind }), from_ms, until_ms });
    return;
  }
  const until = until_ms === null ? "until lintel resume" : `until ${momentText(until_ms)}`;
  const since = isKnown ? `, as it has been since ${momentText(from_ms)}` : "";
  const of = kind === undefined ? "" : ` of the ${kinds[kind].title.toLowerCase()}`;
  terminal.print(`Recording${of}${home === undefined ? "" : ` of home ${home}`} is paused ${until}${since}.`);
}

/** `this home`, `the watch 11:22 of home 12`. */
export function scopeText({
  home,
  kind,
  address,
  itemid,
}: Omit<PausedSpan, "id"> & { home: number }): string {
  const whose = home === 0 ? "this home" : `home ${home}`;
  if (kind === undefined) return whose;
  const device = address ?? itemid;
  return device === undefined
    ? `the ${kinds[kind].title.toLowerCase()} of ${whose}`
    : `the ${kinds[kind].singular} ${device} of ${whose}`;
}

/** The words of `lintel status` for a pause that is not over. */
export function pauseText(pause: Pause, now_ms: number): string {
  const { kind, why, from_ms, before_ms } = pause;
  const what = kind === undefined ? "Recording" : `Recording of ${scopeText(pause)}`;
  const since = from_ms <= now_ms ? `since ${momentText(from_ms)}` : `from ${momentText(from_ms)} on`;
  const isOpen = before_ms === pauseOpen_ms;
  const until = isOpen ? "" : `, until ${momentText(before_ms)}`;
  if (why !== undefined) {
    const reason = reasonTexts[why];
    return `${what} is stopped ${since}${until}: ${reason}. Nothing of this time is kept.`;
  }
  const end = isOpen ? ", until lintel resume" : until;
  return `${what} is paused ${since}${end}: nothing of this time is kept.`;
}

const reasonTexts: Readonly<Record<PauseReason, string>> = {
  consent_withdrawn: "consent was withdrawn",
  enrollment_ended: "the enrollment ends then",
  restricted: "what was recorded is restricted, and shown to nobody",
};

/** A store whose recording may be paused, the home in it as the store has it, and the clock that tells of it. */
export interface Pausable {
  readonly store: Store;
  readonly home: number;
  readonly clock: Clock;
}

/** Opens the store that the options name. @throws OperatorError where they name no home at central, or one at a gateway */
export function withPausable<Result>(
  options: PauseOptions,
  context: CommandContext,
  use: (pausable: Pausable) => Promise<Result>,
): Promise<Result> {
  return withStore(options, context, (store, directory) => {
    const atGateway = directory !== undefined && storedRole(directory) === "gateway";
    if (atGateway && options.home !== undefined)
      throw new OperatorError("a gateway has one home, and --home names one", "leave --home out");
    if (!atGateway && options.home === undefined && options.subject === undefined)
      throw new OperatorError("central has many homes, and the command names none", "give --home NUMBER");
    return use({ store, home: options.home ?? 0, clock: clockOf(context.clock, { directory, atGateway }) });
  });
}

function clockOf(
  clock: Clock,
  { directory, atGateway }: { readonly directory: string | undefined; readonly atGateway: boolean },
): Clock {
  if (directory === undefined) return clock;
  return atGateway ? boxClock({ clock, directory }) : new GuardedClock({ clock, directory });
}

const units_ms: Readonly<Record<string, number>> = { m: 60_000, h: hour_ms, d: day_ms };
const pause_max_ms = 366 * day_ms;

function duration_ms(text: string): number {
  const [, count = "", unit = ""] = /^([1-9]\d{0,4})([mhd])$/.exec(text) ?? [];
  const length_ms = Number(count) * (units_ms[unit] ?? 0);
  if (length_ms > 0 && length_ms <= pause_max_ms) return length_ms;
  throw new InvalidArgumentError(
    "It must be minutes, hours or days, such as 30m, 2h or 3d, and a year at most.",
  );
}
