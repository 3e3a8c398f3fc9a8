import { hour_ms, localDate, localTime } from "../../base/time.ts";
import type { AlertRecipient } from "../../config/alert-settings.ts";
import { needLevels, needRules } from "../../domain/fleet-home.ts";
import type { Outage } from "../../domain/outage.ts";
import type { AlertState } from "./alert-state.ts";
import { isOpen, isRipe } from "./outages.ts";

/** The content of a mail or of the call of a webhook: outages of which a recipient is told, and in a digest what is over and what is open besides. */
export interface NoticeContent {
  readonly kind: "new" | "escalated" | "digest";
  readonly told: readonly Outage[];
  readonly over: readonly Outage[];
  readonly open: readonly Outage[];
}

/**
 * The next notice to a recipient; undefined while there is nothing to say, in quiet hours, and within an hour of the last
 * one.
 */
export function nextNotice(
  state: AlertState,
  recipient: AlertRecipient,
  all: readonly AlertRecipient[],
  now_ms: number,
): NoticeContent | undefined {
  const { to, timezone } = recipient;
  const past = state.recipients[to] ?? { mailed_ms: 0, digest: "", digest_ms: 0 };
  const mine = state.outages.filter((outage) => isFor(outage, recipient, all));
  const untold = mine.filter((outage) => isRipe(outage) && outage.told[to] === undefined);
  const due = untold.filter(({ need, acknowledged }) => {
    return needRules[need].level !== "digest" && acknowledged === undefined;
  });
  const only = (kind: NoticeContent["kind"], told: readonly Outage[]) => ({ kind, told, over: [], open: [] });
  if (isQuiet(recipient, now_ms)) return undefined;
  const isDigestTime =
    localTime(timezone, now_ms) >= recipient.digest && localDate(timezone, now_ms) !== past.digest;
  if (isDigestTime) {
    const over = mine.filter(({ over_ms, told }) => (over_ms ?? 0) > past.digest_ms && told[to]);
    const open = mine.filter((outage) => isOpen(outage) && outage.told[to] !== undefined);
    return { kind: "digest", told: untold, over, open };
  }
  if (now_ms - past.mailed_ms < notice_interval_ms) return undefined;
  if (due.length > 0) return only("new", due);
  const escalated = recipient.duties.includes("lead")
    ? state.outages.filter((outage) => isEscalated(outage, recipient, now_ms))
    : [];
  return escalated.length > 0 ? only("escalated", escalated) : undefined;
}

/** Whether it is the recipient's to deal with. What no recipient of the home has as a duty is for `lead`. */
function isFor(outage: Outage, recipient: AlertRecipient, all: readonly AlertRecipient[]): boolean {
  const { duty } = needRules[outage.need];
  if (!sees(recipient, outage)) return false;
  if (recipient.duties.includes(duty)) return true;
  const isNobodys = !all.some((one) => sees(one, outage) && one.duties.includes(duty));
  return isNobodys && recipient.duties.includes("lead");
}

function sees({ homes, needs }: AlertRecipient, { home, need }: Outage): boolean {
  return (homes?.includes(home) ?? true) && (needs?.includes(need) ?? true);
}

function isEscalated(outage: Outage, recipient: AlertRecipient, now_ms: number): boolean {
  const { need, told, acknowledged } = outage;
  const { escalate_h } = needLevels[needRules[need].level];
  const first_ms = Math.min(...Object.values(told));
  return (
    escalate_h !== undefined &&
    acknowledged === undefined &&
    told[recipient.to] === undefined &&
    sees(recipient, outage) &&
    isRipe(outage) &&
    now_ms - first_ms >= escalate_h * hour_ms
  );
}

/** Whether it is a time of day at which nothing is sent. */
export function isQuiet({ timezone, quiet: { from, to } }: AlertRecipient, now_ms: number): boolean {
  const time = localTime(timezone, now_ms);
  return from <= to ? time >= from && time < to : time >= from || time < to;
}

/** An hour in which many homes fail is one notice. */
export const notice_interval_ms = hour_ms;
