import { hour_ms } from "../../../base/time.ts";
import { erasedText } from "../parts/erased-text.ts";
import { Moment } from "../parts/page-frame.tsx";
import { pausedText } from "../parts/paused-text.ts";
import { durationText, type Times } from "../time-text.ts";
import type { HomePageData } from "./home-data.ts";
import type { HomeNeed } from "./home-needs.ts";
import { conflictText, headOf } from "./home-words.tsx";

type Answered = Pick<HomePageData, "paused" | "erased" | "needs" | "devices" | "isWhole" | "here_ms"> & {
  readonly times: Times;
};

/** The first sentences of the page: whether recording is paused, whether all devices were heard, and what to do. */
export function Answer({ paused, ...of }: Answered) {
  return (
    <>
      {paused === null ? "" : `${pausedText(paused, of.times)} `}
      <Heard {...of} />
    </>
  );
}

/** @param isWhole the reader may see all of the home */
export function noDeviceText(isWhole: boolean): string {
  return isWhole ? "No device has been heard here yet." : "Your token shows nothing of this home.";
}

function Heard({ needs, erased, devices: all, isWhole, here_ms, times }: Omit<Answered, "paused">) {
  const devices = all.filter(({ replaced }) => replaced === null).length;
  if (erased?.isWhole === true) return <>{erasedText(erased, times)}</>;
  if (devices === 0 && (!isWhole || needs.length === 0)) return <>{noDeviceText(isWhole)}</>;
  const [need] = needs;
  if (need === undefined)
    return (
      <>
        {devices === 1
          ? "The one device here was"
          : devices === 2
            ? "Both devices were"
            : `All ${devices} devices were`}{" "}
        heard in time
        {/* Central knows nothing of the time since. */}
        {here_ms !== null && times.now_ms - here_ms > hour_ms ? (
          <>
            {" "}
            until <Moment at_ms={here_ms} times={times} />, the last upload
          </>
        ) : null}
        .
      </>
    );
  const heard = needs.every(({ type }) => type === "battery" || type === "missed")
    ? "All devices were heard. "
    : "";
  if (needs.length > 1)
    return (
      <>
        {heard}
        {needs.length} things to do, the most urgent first:
      </>
    );
  return (
    <>
      {heard}One thing to do: <Briefly need={need} times={times} />.
    </>
  );
}

/** A need without its remedy. */
function Briefly({ need, times }: { need: HomeNeed; times: Times }) {
  switch (need.type) {
    case "trouble":
      return <>{lowered(headOf(need.what))}</>;
    case "conflict":
      return (
        <>
          <bdi>{need.title}</bdi> {conflictText(need)}
        </>
      );
    case "unheard": {
      const [device, ...others] = need.devices;
      if (device === undefined || others.length > 0)
        return <>{need.devices.length} devices have never been heard</>;
      return (
        <>
          <bdi>{device.title}</bdi> has never been heard
        </>
      );
    }
    case "silent":
      return (
        <>
          <bdi>{need.title}</bdi> has not been heard for {durationText(times.now_ms - need.heard_ms)}
        </>
      );
    case "battery":
      return (
        <>
          the battery of <bdi>{need.title}</bdi> is nearly empty
        </>
      );
    default:
      return (
        <>
          <bdi>{need.title}</bdi> was not opened <Moment at_ms={need.at_ms} times={times} as="day" />
        </>
      );
  }
}

function lowered(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
