import { type ComponentChildren, Fragment } from "preact";
import type { Dose } from "../../../domain/derived/doses.ts";
import { quality_enough, quality_strong } from "../../../domain/link-quality.ts";
import { DeviceLink, Moment } from "../parts/page-frame.tsx";
import { sentence } from "../setup-visit/setup-visit-words.ts";
import type { ShownConflict } from "../shown-devices.ts";
import {
  clockText,
  dayText,
  durationText,
  momentText,
  narrowWeekdayText,
  numberText,
  type Times,
} from "../time-text.ts";
import type { Battery, DeviceRow } from "./home-devices.ts";
import type { HomeNeed } from "./home-needs.ts";

/** The latest that a device has told, in words; `isPresent`: nothing that it told since is still on its way. */
export function LatestWords(of: { latest: DeviceRow["latest"]; isPresent: boolean; times: Times }) {
  const { latest, isPresent, times } = of;
  if (latest === null) return <>nothing yet</>;
  const { at_ms } = latest;
  const isNow = times.now_ms - at_ms < 60_000;
  const moment = isNow ? <strong>now</strong> : <Moment at_ms={at_ms} times={times} />;
  switch (latest.type) {
    case "opened":
      if (!isPresent) return <>opened {moment}</>;
      return <>open since {isNow ? <strong>now</strong> : moment}</>;
    case "closed":
      return <>closed {moment}</>;
    case "heard":
      return <>no motion lately</>;
    case "weighed":
      return (
        <>
          {numberText(latest.weight_g / 1_000, times.locale, 1)} kg,{" "}
          <Moment at_ms={at_ms} times={times} as="day" />
        </>
      );
    case "walked":
      return (
        <>
          {numberText(latest.steps, times.locale)} steps, until {moment}
        </>
      );
    case "doses":
      return <Doses doses={latest.doses} times={times} />;
    default:
      return moment;
  }
}

/** A week of doses, a cell a day. */
function Doses({ doses, times }: { doses: readonly Dose[]; times: Times }) {
  return (
    <ol class="week-doses">
      {doses.map(({ date, status, at_ms, reason = "" }) => {
        // Noon of that date anywhere is that date in Greenwich.
        const day = { locale: times.locale, zone: "UTC", now_ms: 0 };
        const noon_ms = Date.parse(`${date}T12:00Z`);
        const words = `${dayText(noon_ms, day)}: ${[doseWords[status], at_ms === undefined ? reason : clockText(at_ms, times)].join(" ").trim()}`;
        return (
          <li key={date} class={status} title={words}>
            <span class="unseen">{words}</span>
            <span aria-hidden="true">{narrowWeekdayText(noon_ms, day)}</span>
            <span aria-hidden="true">{doseMarks[status]}</span>
          </li>
        );
      })}
    </ol>
  );
}

/** The marks of a pill box's days, in one line. */
export function DoseLegend() {
  return (
    <p class="dose-legend">
      Pill boxes: {doseMarks.taken} a door moved, {doseMarks.missed} no door moved, {doseMarks.unknown} not
      known, {doseMarks.due} not due yet
    </p>
  );
}

const doseMarks = { taken: "✓", late: "✓", due: "·", unknown: "?", missed: "✗" } as const;
const doseWords = {
  taken: "taken",
  late: "taken after midnight,",
  due: "not yet",
  unknown: "not known,",
  missed: "missed",
} as const;

/** Charge, and how long it lasts where that is known. */
export function batteryText({ percent, millivolts, low, left_ms }: Battery, { locale }: Times): string {
  const charge =
    percent === null
      ? `${low ? "low" : "good"} (${numberText((millivolts ?? 0) / 1_000, locale, 2)} V)`
      : `${numberText(percent, locale)} %`;
  return left_ms === null ? charge : `${charge}, about ${durationText(left_ms)}`;
}

/** Signal in words; Zigbee's link quality goes from 0 to 255. */
export function signalText(linkquality: number): string {
  if (linkquality >= quality_strong) return "strong";
  return linkquality >= quality_enough ? "enough" : "weak";
}

/** A need with its remedy; only the remedy if the heading already has the need. A reader who may set up the home can act here. */
export function NeedWords(of: { need: HomeNeed; times: Times; isTold: boolean; maySetUp: boolean }) {
  const { need, times, isTold, maySetUp } = of;
  if (need.type === "trouble") {
    const isWhole = isTold && headOf(need.what) === need.what.replace(/\.$/, "");
    return (
      <>
        {isWhole && need.remedy !== null ? "" : need.what} {need.remedy}
      </>
    );
  }
  if (need.type === "unheard") return <Unheard {...need} />;
  if (need.type === "conflict") {
    const { name, title } = need;
    const known = name === null ? <bdi>{title}</bdi> : <DeviceLink {...need} name={name} />;
    const from = maySetUp ? "home" : undefined;
    return <ConflictWords conflict={need} device={known} times={times} isTold={isTold} from={from} />;
  }
  const device = <DeviceLink {...need} />;
  if (isTold) return <Remedy need={need} device={device} />;
  switch (need.type) {
    case "silent": {
      const ago = durationText(times.now_ms - need.heard_ms);
      const remedy = need.battery?.low
        ? "Its battery was nearly empty: bring a new one."
        : "Check that it is in its place, and change its battery.";
      return (
        <>
          {device} has not been heard for <time title={momentTitle(need.heard_ms, times)}>{ago}</time>.{" "}
          {remedy}
        </>
      );
    }
    case "battery":
      return (
        <>
          The battery of {device} is nearly empty
          {need.battery.left_ms === null ? "" : ` and lasts about ${durationText(need.battery.left_ms)} more`}
          {knownText(need.known_ms, times)}. Bring a new one.
        </>
      );
    default:
      return (
        <>
          {device} was not opened <Moment at_ms={need.at_ms} times={times} as="day" />. Ask whether the pills
          were taken.
        </>
      );
  }
}

/** `, known since Tuesday 16:35`; nothing where that is not known. */
export function knownText(known_ms: number | null | undefined, times: Times): string {
  return known_ms === null || known_ms === undefined ? "" : `, known since ${momentText(known_ms, times)}`;
}

/** A fault up to its first colon, or to its end. */
export function headOf(what: string): string {
  return what.replace(/(: .*|\.)$/s, "");
}

function Remedy(of: {
  need: Exclude<HomeNeed, { type: "trouble" | "conflict" | "unheard" }>;
  device: ComponentChildren;
}) {
  const { need, device } = of;
  if (need.type === "missed") return <>Ask whether the pills of {device} were taken.</>;
  const left_ms = need.battery?.left_ms ?? null;
  if (need.type === "battery")
    return (
      <>
        Bring a new one for {device}
        {left_ms === null ? "" : `: it lasts about ${durationText(left_ms)} more`}.
      </>
    );
  return need.battery?.low ? (
    <>The battery of {device} was nearly empty: bring a new one.</>
  ) : (
    <>Check that {device} is in its place, and change its battery.</>
  );
}

function Unheard({ devices, isSinceErased = false }: Extract<HomeNeed, { type: "unheard" }>) {
  const named = devices.length <= unheardNamed_max ? devices : devices.slice(0, unheardNamed_max - 1);
  const others = devices.length - named.length;
  return (
    <>
      {named.map((one, place) => (
        <Fragment key={`${one.kind} ${one.name}`}>
          {place === 0 ? "" : others === 0 && place === named.length - 1 ? " and " : ", "}
          <DeviceLink {...one} />
        </Fragment>
      ))}
      {others === 0 ? "" : ` and ${others} others`}
      {devices.length === 1 ? " has " : " have "}
      {isSinceErased
        ? "not been heard since, which may take four hours. After that, use "
        : "never been heard. Use "}
      {devices.length === 1 ? "it" : "each"} near the gateway, or let it join again.
    </>
  );
}

/** Most unheard devices that the page names. With more of them the home is new, and the page lists them below. */
const unheardNamed_max = 5;

function momentTitle(at_ms: number, times: Times): string {
  return `last heard ${dayText(at_ms, times)} ${clockText(at_ms, times)}`;
}

/** Words that follow the name of a device in conflict. */
export function conflictText({ differs, keyless }: ShownConflict): string {
  return differs === "key" && keyless ? "came without its key" : texts[differs];
}

const texts: Readonly<Record<ShownConflict["differs"], string>> = {
  way: "came by another connection",
  kind: "came as another kind of device",
  model: "came with another model",
  subtype: "came as another kind of sensor",
  key: "came with another key",
  counter: "started its counter again",
};

/** A conflict with its remedy: what was known and what came, since when and how often. `from`: the page whose reader may settle it here. */
export function ConflictWords({ conflict, device, times, isTold = false, from }: ConflictShown) {
  const { address, differs, why, known_ms, first_ms, last_ms, count } = conflict;
  const hasOneCause = differs === "counter";
  return (
    <>
      {isTold ? null : (
        <>
          {device} {conflictText(conflict)}
          {hasOneCause ? ". " : ": somebody may have put another device in its place. "}
        </>
      )}
      {isTold && !hasOneCause ? "Somebody may have put another device in its place. " : ""}
      {sentence(why)} Lintel has known it since <Moment at_ms={known_ms} times={times} />. It refused the new
      one {count === 1 ? "once" : `${numberText(count, times.locale)} times`}, first{" "}
      <Moment at_ms={first_ms} times={times} />
      {count === 1 ? "" : ", last "}
      {count === 1 ? null : <Moment at_ms={last_ms} times={times} />}, and recorded nothing of it.
      {from === undefined ? (
        <>
          {" "}
          If it was reset or replaced, run <code>lintel items accept {address}</code> at the gateway,
          otherwise <code>lintel items refuse {address}</code>.
        </>
      ) : (
        <form method="post" action="/walk/conflict" class="conflict">
          <input type="hidden" name="device" value={address} />
          <input type="hidden" name="seen" value={first_ms} />
          <input type="hidden" name="from" value={from} />
          <button type="submit" name="do" value="accept">
            {hasOneCause ? "Its battery was changed" : "It was replaced"}
          </button>
          <button type="submit" name="do" value="refuse">
            {hasOneCause ? "Keep refusing it" : "Keep the known one"}
          </button>
        </form>
      )}
    </>
  );
}

interface ConflictShown {
  readonly conflict: ShownConflict;
  /** Its name, as the page shows it. */
  readonly device: ComponentChildren;
  readonly times: Times;
  /** Another part of the page already has the first sentence. */
  readonly isTold?: boolean;
  readonly from: "home" | "walk" | undefined;
}
