import { hour_ms, localTime } from "../../../../src/base/time.ts";
import { needRules } from "../../../../src/domain/fleet-home.ts";
import type { Heard, TrialRecipient } from "./recipients.ts";
import type { Trouble } from "./troubles.ts";

interface Month {
  readonly planted: readonly Trouble[];
  readonly recipients: readonly TrialRecipient[];
  readonly heard: readonly Heard[];
}

/** Whether each trouble was told once to each of the right people, in its time, and nothing else to anybody. */
export function judge(month: Month): { faults: string[]; figures: Record<string, number> } {
  const { planted, recipients } = month;
  const heard = firstOfEach(month.heard);
  const waits_h: number[] = [];
  const faults = [
    ...month.heard.flatMap((one) => faultsOfHour(one, recipients)),
    ...heard.flatMap((one) =>
      planted.some(({ home, need }) => home === one.home && need === one.need)
        ? []
        : [`${one.to} was told of ${one.need} of home ${one.home}, which has it not`],
    ),
    ...planted.flatMap((trouble) =>
      recipients.flatMap((recipient) => faultsOfTelling(trouble, recipient, heard, waits_h)),
    ),
    ...planted.flatMap((trouble) => faultsOfEscalating(trouble, heard)),
  ];
  const figures = {
    "mails and calls": new Set(month.heard.map(({ to, notice }) => `${to} ${notice}`)).size,
    "alerts in them": heard.length,
    "alerts that nobody had acknowledged, passed on to lead": heard.filter(({ kind }) => kind === "escalated")
      .length,
    "alerts that came again after a kill, under the same id": month.heard.length - heard.length,
    "longest from the beginning of a trouble to its alert, hours": Math.max(...waits_h),
  };
  return { faults, figures };
}

/** Each alert of each notice once: a notice that was under way when central was killed comes again, under its id. */
function firstOfEach(heard: readonly Heard[]): Heard[] {
  return [...new Map(heard.toReversed().map((one) => [`${one.to} ${one.notice} ${one.id}`, one])).values()];
}

function faultsOfHour({ to, at_ms, need, home }: Heard, recipients: readonly TrialRecipient[]): string[] {
  const recipient = recipients.find((one) => one.to === to);
  if (recipient === undefined) return [`${to} is nobody`];
  const { from, to: before } = recipient.quiet;
  const time = localTime(recipient.timezone, at_ms);
  const isQuiet = from <= before ? time >= from && time < before : time >= from || time < before;
  return isQuiet ? [`${to} was told of ${need} of home ${home} at ${time}, in quiet hours`] : [];
}

function faultsOfTelling(
  trouble: Trouble,
  { to, duties, homes, needs }: TrialRecipient,
  heard: readonly Heard[],
  waits_h: number[],
): string[] {
  const { home, need, from_ms, short } = trouble;
  const { level, duty, after_h } = needRules[need];
  const told = heard.filter(
    (one) => one.to === to && one.home === home && one.need === need && one.kind !== "escalated",
  );
  const isHis =
    duties.includes(duty) && (homes?.includes(home) ?? true) && (needs?.includes(need) ?? true) && !short;
  const name = `${need} of home ${home}`;
  if (told.length !== (isHis ? 1 : 0)) return [`${to} was told of ${name} ${told.length} times`];
  const [first] = told;
  if (first === undefined) return [];
  const wait_h = (first.at_ms - from_ms) / hour_ms;
  waits_h.push(wait_h);
  // A night until it is reported, and one or a day until the digest; then refusals, which may go on over another night.
  const most_h = report_h + after_h + (level === "digest" ? 24 : 12) + refused_h;
  return wait_h <= most_h ? [] : [`${to} was told of ${name} after ${wait_h.toFixed(1)} h`];
}

/** Lead hears of what is his own, and of what nobody acknowledges for two days. */
function faultsOfEscalating(
  { home, need, to_ms, claimed, short }: Trouble,
  heard: readonly Heard[],
): string[] {
  const { level, duty } = needRules[need];
  const of = heard.filter((one) => one.home === home && one.need === need);
  const times = of.filter(({ kind }) => kind === "escalated").length;
  const first_ms = Math.min(...of.map(({ at_ms }) => at_ms));
  const may = level === "normal" && duty !== "server" && !claimed && !short;
  const must = may && to_ms - first_ms > (48 + 12 + refused_h) * hour_ms;
  if (times > (may ? 1 : 0) || times < (must ? 1 : 0))
    return [`${need} of home ${home} was passed on to lead ${times} times`];
  return [];
}

const report_h = 30;
const refused_h = 24;
