import { chmodSync } from "node:fs";
import { join, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { parseIfWhole, readIfThere, writeDurably } from "../../base/disk/safe-files.ts";
import {
  ReleaseRefusal,
  type ReleaseRefusalReason,
  refusals_max,
  type UpdateReport,
} from "../../domain/fleet-home.ts";
import { linkedFolder, type ReleaseFolder, releaseIn } from "./releases.ts";

const closed = { additionalProperties: false } as const;
const text = Type.String({ maxLength: 1_000 });
const count = Type.Integer({ minimum: 0 });

/** A page as the release before served it: a path below the version of the interface, and a digest of each record. */
const Page = Type.Object({ path: text, records: Type.Array(Type.String({ maxLength: 64 })) }, closed);

/** Devices of one model that one driver hears. */
const Makes = Type.Object({
  /** For people: `wirelesssensors 3041 by zigbee`. */
  name: text,
  /** As `kind name`. */
  items: Type.Array(text, { minItems: 1 }),
  /** The one that is heard most often is silent for no longer, milliseconds. */
  silence_ms: count,
});

/** Facts that held before the switch, and have to hold again. */
export const Baseline = Type.Object({
  /** Devices that send within the trial, or the days after it, even if nothing happens in the home, by driver, kind and model. */
  heard: Type.Array(Makes),
  /** How often the service had to be started again in the day before. */
  restarts_a_day: count,
  /** Drivers that heard their device. */
  drivers: Type.Array(text),
  pages: Type.Array(Page),
  uploads: Type.Boolean(),
});
export type Baseline = Static<typeof Baseline>;

/** Facts of a release from the days after its trial. `at_ms` is a time within `watched_ms`. */
export const Days = Type.Object({
  /** How long it has run and answered, added up from look to look. */
  watched_ms: count,
  /** How long it has not answered since it last did. */
  unanswered_ms: count,
  /** The last look: by which time of which boot, and what systemd counted then. */
  last: Type.Object({ boot: text, monotonic_ms: Type.Integer(), unix_ms: count, restarts: count }, closed),
  /** When the days began. */
  began: Type.Object({ data_bytes: count, last_seq: count }, closed),
  restarts: count,
  /** The least of each six hours: memory, and files beyond what readings need. */
  windows: Type.Array(Type.Object({ memory_bytes: count, extra_bytes: Type.Integer() }, closed), {
    maxItems: 100,
  }),
  /** When a device of each make was last heard. */
  heard: Type.Array(Type.Object({ name: text, mark: text, at_ms: count }, closed)),
  /** Numbers of readings that central has to hold some time later. */
  noted: Type.Array(Type.Object({ at_ms: count, epoch: text, seq: count }, closed), { maxItems: 100 }),
  /** Looks in a row in which it had to upload and could not, by its own fault. */
  upload_faults: count,
});
export type Days = Static<typeof Days>;

/** A switch that is neither confirmed nor taken back yet. */
export const Trial = Type.Object({
  /** `trial`: it has to show what it can; `days`: it has, and is watched; `back`: it failed, and the release before takes its place again. */
  phase: Type.Union([Type.Literal("trial"), Type.Literal("days"), Type.Literal("back")]),
  version: text,
  sha256: text,
  /** Set once the service was started on it. */
  switched_ms: Type.Optional(count),
  /** How long the trial has lasted, without times in which the box was off, and how many times it was begun or gone on with. */
  spent_ms: count,
  runs: count,
  baseline: Baseline,
  /** From phase `days` on. */
  days: Type.Optional(Days),
  /** In phase `back`. */
  refusal: Type.Optional(ReleaseRefusal),
});
export type Trial = Static<typeof Trial>;

/** Everything that the updater knows from one run to the next: `state.json`, for everybody to read. An older updater that stands in leaves alone what a newer one has added. */
export const UpdateState = Type.Object({
  format: Type.Literal("lintel update 1"),
  /** The ring of the box, and when the list was last read. */
  ring: Type.Optional(count),
  looked_ms: Type.Optional(count),
  /** Folders of the release that was confirmed last and of the one before, as the links lead to them. The links follow what stands here. */
  confirmed: Type.Optional(text),
  previous: Type.Optional(text),
  /** A release that lies unpacked, and why it has not been tried yet. */
  waiting: Type.Optional(Type.Object({ version: text, sha256: text, message: text }, closed)),
  trial: Type.Optional(Trial),
  /** The newest last. */
  refusals: Type.Array(ReleaseRefusal, { maxItems: refusals_max }),
});
export type UpdateState = Static<typeof UpdateState>;

/** The state in a directory of releases; an empty one where there is none that can be read. */
export function readState(directory: string): UpdateState {
  const found = parseIfWhole(readIfThere(statePath(directory)));
  return Value.Check(UpdateState, found) ? found : { format: "lintel update 1", refusals: [] };
}

/**
 * The release that was confirmed last; undefined where that is the package's own and no update was looked for since it was installed. A package
 * removes the links when it is installed, and with them what the state says.
 */
export function confirmedRelease(directory: string): ReleaseFolder | undefined {
  const linked = linkedFolder(directory, "confirmed");
  if (linked === undefined) return undefined;
  const { confirmed } = readState(directory);
  return releaseIn(confirmed === undefined ? linked : resolve(directory, confirmed));
}

/** The part of the state that goes to central. */
export function updateReportOf(directory: string, ring: number): UpdateReport {
  const { trial, waiting, refusals } = readState(directory);
  const confirmed = confirmedRelease(directory);
  return {
    ring,
    ...(confirmed !== undefined && { confirmed: confirmed.version }),
    ...(trial && { trying: trial.version }),
    ...(waiting && { waiting: { version: waiting.version, message: waiting.message } }),
    refusals,
  };
}

/** The state is on disk when this returns. */
export function writeState(directory: string, state: UpdateState): void {
  // One that could not be read again would be forgotten, and with it a trial.
  Value.Assert(UpdateState, state);
  writeDurably(statePath(directory), `${JSON.stringify(state, null, 2)}\n`);
  // The upload tells central of it, as the gateway's user.
  chmodSync(statePath(directory), 0o644);
}

/** A state with one more refusal in it; the same one again is counted. */
export function withRefusal(state: UpdateState, found: Omit<ReleaseRefusal, "times">): UpdateState {
  const isSame = (one: ReleaseRefusal) =>
    one.reason === found.reason && one.version === found.version && one.sha256 === found.sha256;
  const times = (state.refusals.find(isSame)?.times ?? 0) + 1;
  const others = state.refusals.filter((one) => !isSame(one));
  return { ...state, refusals: [...others, { ...found, times }].slice(-refusals_max) };
}

/** Whether a release was refused for good, or as often as it is tried. */
export function isRefused(
  state: UpdateState,
  release: { readonly version: string; readonly sha256: string },
): boolean {
  return state.refusals.some(
    ({ sha256, reason, times }) =>
      sha256 === release.sha256 && times >= (tries_max[reason] ?? Number.POSITIVE_INFINITY),
  );
}

/** How many times a release is tried. A full disk is looked at each time. */
const tries_max: Partial<Record<ReleaseRefusalReason, number>> = {
  architecture: 1,
  damaged: 3,
  went_back: 1,
  unfinished: 3,
};

const statePath = (directory: string) => join(directory, "state.json");
