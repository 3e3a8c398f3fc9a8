import { type Static, type TOptional, Type } from "@sinclair/typebox";
import { signedSchema } from "../base/signed-json.ts";

/** A check of the burn-in: what it asks of the technician, how it judges, and what to do where it fails. */
interface BurnInCheck {
  readonly title: string;
  readonly asks: string;
  readonly judged: string;
  readonly remedy: string;
}

/** The checks, in the order in which they are made. Documents, the command and the page follow this table. */
export const burnInChecks = {
  disk: {
    title: "Disk",
    asks: "Pull the plug five times, each time when the box asks for it. Then type the last number that the screen shows.",
    judged: "After each power cut the disk has every block that it had acknowledged.",
    remedy:
      "Put in another card, of a make that keeps what it acknowledges (sold as industrial or high endurance), and begin again.",
  },
  power: {
    title: "Power supply",
    asks: "Plug in every stick that the box will have. The box puts every core to work for a minute.",
    judged: "The machine reports no low voltage, and does not slow down from heat.",
    remedy:
      "Use the supply that is made for this computer, a short cable, and a case that air comes through.",
  },
  stick: {
    title: "Sticks",
    asks: "Pull out each stick when the box asks for it, and plug it in again.",
    judged: "The driver of each stick listens again.",
    remedy: "Try another socket and a short extension cable, then another stick.",
  },
  sensors: {
    title: "Sensors",
    asks: "Trigger each sensor of the home ten times.",
    judged: "Each sensor is heard ten times.",
    remedy:
      "Of a single sensor: change its battery, bring it nearer, or pair it again. Of all of a stick: replace the stick.",
  },
  radio: {
    title: "Radio",
    asks: "Nothing: the stick measures the noise on its channels, and the box asks each Zigbee device whom it hears.",
    judged: "The channel of the network is not loud, and no device has a weak way to the stick.",
    remedy: "Move the stick away from the box by an extension cable, and away from USB 3 and Wi-Fi.",
  },
  clock: {
    title: "Clock",
    asks: "Take the network away, pull the plug, and plug in again. Two minutes later give the network back.",
    judged: "The box has the time within ten minutes.",
    remedy: "Let the network answer time requests (UDP port 123): lintel doctor says who sets the clock.",
  },
  upload: {
    title: "Upload",
    asks: "Pull out the network cable for a minute when the box asks for it.",
    judged: "The upload goes on by itself, and no day differs at central.",
    remedy: "Run lintel upload, and do what it says.",
  },
  restore: {
    title: "Backup",
    asks: "Nothing: the box makes a backup and restores it beside its data.",
    judged: "The restored store has every reading.",
    remedy: "Run lintel doctor: the disk may be full or damaged.",
  },
} as const satisfies Readonly<Record<string, BurnInCheck>>;

export type BurnInCheckName = keyof typeof burnInChecks;
export const burnInNames = Object.keys(burnInChecks) as BurnInCheckName[];

const closed = { additionalProperties: false } as const;
const sentence = Type.String({ maxLength: 500 });
const word = Type.String({ maxLength: 200 });
/** Unix milliseconds up to the end of the year 9999. */
const moment_ms = Type.Integer({ minimum: 0, maximum: 253_402_300_799_999 });

/** Checks of a later version too. */
const checks_max = 32;
const parts_max = 8;

/** The result of one check. */
export const BurnInResult = Type.Object(
  {
    outcome: Type.Union([Type.Literal("passed"), Type.Literal("failed"), Type.Literal("skipped")]),
    at_ms: moment_ms,
    /** The finding, in a sentence; of a check that was skipped, the reason. */
    found: sentence,
  },
  closed,
);
export type BurnInResult = Static<typeof BurnInResult>;

export const BurnInResults = Type.Object(
  Object.fromEntries(burnInNames.map((name) => [name, Type.Optional(BurnInResult)])) as Record<
    BurnInCheckName,
    TOptional<typeof BurnInResult>
  >,
  closed,
);
export type BurnInResults = Static<typeof BurnInResults>;

/** Parts that another burn-in is needed after a change of; absent where the machine does not tell. */
export const BurnInHardware = Type.Object(
  {
    machine: Type.Optional(word),
    /** Its identity as the card itself tells it. */
    card: Type.Optional(word),
    /** Lasting paths of sticks. */
    sticks: Type.Array(word, { maxItems: 16 }),
    /** The current that the power supply says it can give; a Raspberry Pi 5 asks it. */
    supply: Type.Optional(word),
  },
  closed,
);
export type BurnInHardware = Static<typeof BurnInHardware>;

/** The record of a burn-in: one result for each check. */
export const BurnInRecord = Type.Object(
  {
    format: Type.Literal("lintel burn-in 1"),
    version: word,
    home: Type.Optional(Type.Integer({ minimum: 1 })),
    begun_ms: moment_ms,
    ended_ms: moment_ms,
    hardware: BurnInHardware,
    results: BurnInResults,
  },
  closed,
);
export type BurnInRecord = Static<typeof BurnInRecord>;

export const SignedBurnIn = signedSchema(BurnInRecord);
export type SignedBurnIn = Static<typeof SignedBurnIn>;

/** Names of the checks with an outcome. */
export function checksWith(outcome: BurnInResult["outcome"], results: BurnInResults): BurnInCheckName[] {
  return burnInNames.filter((name) => results[name]?.outcome === outcome);
}

/** The answer of a record, in a sentence. */
export function burnInAnswer(results: BurnInResults): string {
  const failed = checksWith("failed", results);
  const skipped = checksWith("skipped", results);
  const titles = (names: readonly BurnInCheckName[]) =>
    names.map((name) => burnInChecks[name].title).join(", ");
  const left = skipped.length === 0 ? "" : ` Skipped: ${titles(skipped)}.`;
  if (failed.length > 0) return `This box may not go to a home. Failed: ${titles(failed)}.${left}`;
  return skipped.length === 0
    ? "This box may go to a home: every check has passed."
    : `What was checked has passed.${left}`;
}

/** A burn-in as a gateway tells central of it: checks that failed or were skipped, and parts that are others than they were at it, in words. */
export const BurnInReport = Type.Object(
  {
    ended_ms: moment_ms,
    failed: Type.Array(word, { maxItems: checks_max }),
    skipped: Type.Array(word, { maxItems: checks_max }),
    changed: Type.Array(word, { maxItems: parts_max }),
  },
  closed,
);
export type BurnInReport = Static<typeof BurnInReport>;
