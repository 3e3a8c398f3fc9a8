import { needRules } from "../../domain/fleet-home.ts";
import { centralItself, type Outage } from "../../domain/outage.ts";
import type { NoticeContent } from "./due-notices.ts";

/** Subject and text of a mail, in plain text. It has numbers of homes and names of items, and nothing of people. */
export function mailText(content: NoticeContent, url: string): { subject: string; text: string } {
  const { told, over, open } = content;
  const ids = told.filter(({ acknowledged }) => acknowledged === undefined).map(({ id }) => id);
  const parts = [
    ...(content.kind === "escalated" ? [`Nobody has acknowledged this since ${dayOf(told)}:\n`] : []),
    ...linesOf(told, url),
    ...(over.length === 0 ? [] : ["Over since the last digest:\n", ...linesOf(over, url)]),
    ...(open.length === 0 ? [] : ["Still open:\n", ...linesOf(open, url)]),
    ...(ids.length === 0
      ? []
      : [
          `If you deal with it, say so on ${url}/alerts or run this at central:\n  sudo -u lintel-central lintel alerts acknowledge ${idsText(ids)}`,
        ]),
    `All homes: ${url}/`,
    "Lintel reports on devices. It does not watch over anybody's health.",
  ];
  return { subject: `Lintel: ${subjectOf(content)}`, text: `${parts.join("\n")}\n` };
}

function subjectOf({ kind, told, over, open }: NoticeContent): string {
  const homes = [...new Set(told.map(({ home }) => home))];
  const [first] = told;
  const what =
    first === undefined
      ? `${over.length} over, ${open.length} open`
      : homes.length > 1
        ? `${homes.length} homes need somebody`
        : `${first.home === centralItself ? "central" : `home ${first.home}`}: ${told.length === 1 ? needRules[first.need].title : `${told.length} needs`}`;
  return { new: what, escalated: `not acknowledged: ${what}`, digest: `daily digest: ${what}` }[kind];
}

/** A need that many homes have is one line: such outages often have one cause. The rest stands home by home. */
function linesOf(outages: readonly Outage[], url: string): string[] {
  const byNeed = [...Map.groupBy(outages, ({ need }) => need).values()];
  const shared = byNeed.filter((of) => homesOf(of).length > homes_each_max);
  const single = outages.filter((outage) => !shared.some((of) => of.includes(outage)));
  const lines = [
    ...shared.map((of) => {
      const homes = homesOf(of);
      return `${needRules[(of[0] as Outage).need].title} in ${homes.length} homes: ${namedOf(homes)}. Look for one cause first.\n`;
    }),
    ...[...Map.groupBy(single, ({ home }) => home)].map(
      ([home, of]) =>
        `${home === centralItself ? "Central itself" : `Home ${home}  ${url}/homes/${home}`}\n${of.map((outage) => `  ${outage.id}  ${lineOf(outage)}\n`).join("")}`,
    ),
  ];
  const more = lines.length - lines_max;
  return more > 0
    ? [...lines.slice(0, lines_max), `and ${more} more homes: see lintel alerts list\n`]
    : lines;
}

function lineOf({ need, message, acknowledged }: Outage): string {
  const by = acknowledged === undefined ? "" : ` (acknowledged by ${acknowledged.by})`;
  return `${needRules[need].title}: ${message}${by}`;
}

const homesOf = (outages: readonly Outage[]) => [...new Set(outages.map(({ home }) => home))];

function namedOf(homes: readonly number[]): string {
  const more = homes.length - homes_each_max;
  return `${homes.slice(0, homes_each_max).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** Numbers that follow each other as `3-7`. */
function idsText(ids: readonly number[]): string {
  const spans: [number, number][] = [];
  for (const id of ids.toSorted((one, other) => one - other)) {
    const last = spans.at(-1);
    if (last !== undefined && last[1] === id - 1) last[1] = id;
    else spans.push([id, id]);
  }
  return spans.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(" ");
}

function dayOf(outages: readonly Outage[]): string {
  const first_ms = Math.min(...outages.flatMap(({ told }) => Object.values(told)));
  return new Date(first_ms).toISOString().slice(0, 10);
}

/** Homes that a line names; a need that more homes have is one line. */
const homes_each_max = 10;
/** Homes, or needs of many homes, of one part of a mail. */
const lines_max = 200;
