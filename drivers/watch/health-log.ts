import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";

/**
 * The lines that a Bangle.js speaks about its health log, as its apps `android` and `health` do (README.md): JSON
 * objects with `t`, one a line, and lines of JavaScript in the other direction.
 */

/** The watch's activities of ten minutes, as values of the series. */
export const activities = {
  UNKNOWN: { walkState: 1, runState: 1, sleepState: 1 },
  NOT_WORN: undefined,
  WALKING: { walkState: 2, runState: 1, sleepState: 1 },
  EXERCISE: { walkState: 1, runState: 2, sleepState: 1 },
  LIGHT_SLEEP: { walkState: 1, runState: 1, sleepState: 2 },
  DEEP_SLEEP: { walkState: 1, runState: 1, sleepState: 3 },
} as const;

export type Activity = keyof typeof activities;

/** Ten minutes of the log. */
export interface Block {
  /** The end of the block, unix milliseconds by the watch's clock. */
  readonly end_ms: number;
  readonly steps: number;
  readonly activity: Activity;
}

export type Message =
  | { readonly kind: "block"; readonly block: Block }
  /** A value of this moment, which is no block of the log. */
  | { readonly kind: "live" }
  | { readonly kind: "start" }
  /** `count`: how many blocks were sent, where the watch tells. */
  | { readonly kind: "end"; readonly count: number | undefined }
  | { readonly kind: "battery"; readonly percent: number }
  /** A message about something else, or text of the console. */
  | { readonly kind: "other" };

/** Undefined when the line is damaged: it looks like a message and isn't one. */
export function decodeLine(line: string): Message | undefined {
  const text = line.trim();
  // The console of the watch prints prompts, and the values of expressions.
  if (!text.startsWith("{")) return text.includes('"t":"act') ? undefined : { kind: "other" };
  const message = parse(text);
  if (!Value.Check(typed, message)) return undefined;
  switch (message.t) {
    case "act":
      return decodeBlock(message);
    case "actfetch":
      return decodeProgress(message);
    case "status":
      return Value.Check(battery, message) ? { kind: "battery", percent: message.bat } : { kind: "other" };
    default:
      return { kind: "other" };
  }
}

/** The line that a watch sends for a block. `mov` and `hrm` are not used by the series. */
export function encodeBlock({ end_ms, steps, activity }: Block, { hrm = 0, mov = 0 } = {}): string {
  return JSON.stringify({ t: "act", ts: end_ms, stp: steps, hrm, mov, act: activity });
}

/** `\x10` keeps the watch from echoing the line. */
export function setTimeLine(unix_ms: number): string {
  return `\x10setTime(${Math.round(unix_ms / 1000)});\n`;
}

/** Asks for every block that ended at `from_ms` or later. */
export function fetchLine(from_ms: number): string {
  return `\x10GB(${JSON.stringify({ t: "actfetch", ts: from_ms })})\n`;
}

function decodeBlock(message: unknown): Message | undefined {
  if (Value.Check(live, message)) return { kind: "live" };
  if (!Value.Check(act, message)) return undefined;
  const { ts, stp, act: activity } = message;
  return { kind: "block", block: { end_ms: ts, steps: stp, activity } };
}

function decodeProgress(message: unknown): Message | undefined {
  if (!Value.Check(progress, message)) return undefined;
  return message.state === "start" ? { kind: "start" } : { kind: "end", count: message.count };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The year 2100. */
const end_most_ms = Date.UTC(2100, 0, 1);

const typed = Type.Object({ t: Type.String() });
const live = Type.Object({ rt: Type.Literal(1) });
const battery = Type.Object({ bat: Type.Number({ minimum: 0, maximum: 100 }) });
const progress = Type.Object({
  state: Type.Union([Type.Literal("start"), Type.Literal("end")]),
  count: Type.Optional(Type.Integer({ minimum: 0 })),
});
const act = Type.Object({
  ts: Type.Integer({ minimum: 0, maximum: end_most_ms }),
  stp: Type.Integer({ minimum: 0, maximum: 100_000 }),
  act: Type.Union((Object.keys(activities) as Activity[]).map((name) => Type.Literal(name))),
});
