import {
  type Acceptance,
  type AcceptanceTask,
  acceptanceAnswer,
  acceptanceReportOf,
  acceptanceTasks,
  type FirstNight,
} from "../../../domain/acceptance.ts";
import { HttpError } from "../../server/http-errors.ts";
import { type AskedHome, askedHome, requireHome } from "../asked-home.ts";
import { type Show, trailTo } from "../site.ts";

/** A signed record of an installation. */
export interface AcceptanceData extends AskedHome {
  readonly zone: string;
  /** Null where there is none. */
  readonly record: ShownAcceptance | null;
  /** Numbers of all records with the day of each, newest first. */
  readonly all: readonly {
    readonly number: number;
    readonly finished_ms: number;
    readonly passed: boolean;
  }[];
}

interface ShownAcceptance {
  readonly answer: string;
  readonly signed: Acceptance;
  readonly key: string;
  readonly night: FirstNight | null;
  /** The task of each device in words, in their order. */
  readonly asks: readonly string[];
}

export const showAcceptance: Show<AcceptanceData> = async (asked) => {
  const { site, now_ms, locale, query } = asked;
  const home = await askedHome(asked);
  const all = (await site.acceptancesOf?.(home)) ?? [];
  if (all.length === 0 && site.role === "central") await requireHome(asked, home ?? 0);
  const number = query.get("number");
  const kept = number === null ? all[0] : all.find(({ signed }) => signed.number === Number(number));
  if (number !== null && kept === undefined)
    throw new HttpError("parameter_malformed", {
      parameter: "number",
      expected: "the number of a record of this home",
    });
  const data: AcceptanceData = {
    home: home ?? null,
    role: site.role,
    zone: kept?.signed.timezone ?? (await site.zoneOf(home)),
    record:
      kept === undefined
        ? null
        : {
            answer: acceptanceAnswer(acceptanceReportOf(kept)),
            signed: kept.signed,
            key: kept.key,
            night: kept.nights[0]?.signed ?? null,
            asks: kept.signed.devices.map(
              ({ task }) => acceptanceTasks[task as AcceptanceTask]?.asks ?? task,
            ),
          },
    all: all.map(({ signed }) => ({
      number: signed.number,
      finished_ms: signed.finished * 1000,
      passed: signed.passed,
    })),
  };
  return { title: "Acceptance", data: { ...data, now_ms, locale, trail: trailTo(site.role, home) } };
};
