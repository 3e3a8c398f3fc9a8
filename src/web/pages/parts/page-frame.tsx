import type { ComponentChildren } from "preact";
import type { FrameData } from "../site.ts";
import {
  agoText,
  clockText,
  dayText,
  exactText,
  momentText,
  type Times,
  yearDateText,
} from "../time-text.ts";

/** The page around what it shows: where the reader is, and the way out. */
export function Frame({ trail, children, zone = "UTC", locale, now_ms }: FrameOf) {
  const times = { locale, zone, now_ms };
  return (
    <>
      <header class="top">
        <a class="brand" href="/">
          Lintel
        </a>
        <nav aria-label="Where this is">
          {trail.map(({ href, text }) => (
            <a key={href} href={href}>
              <bdi>{text}</bdi>
            </a>
          ))}
        </nav>
        <a class="help" href="/find" title="Key: /">
          Find
        </a>
        <a class="help" href="/docs">
          Help
        </a>
        <form method="post" action="/sign-out">
          <button type="submit">Sign out</button>
        </form>
      </header>
      <main>
        {/* A sheet has no address, and lies about for years. */}
        <p class="on-paper">
          {[...trail.map(({ text }) => text), yearDateText(now_ms, times)].join(" · ")},{" "}
          {clockText(now_ms, times)} {placeOfZone(zone)}
        </p>
        {children}
      </main>
    </>
  );
}

/** `zone`: of the home that the page is about, as the words of a printed page have it; absent: UTC. */
type FrameOf = FrameData & { readonly zone?: string; readonly children: ComponentChildren };

/** `Los Angeles` of `America/Los_Angeles`. */
export function placeOfZone(zone: string): string {
  return (zone.split("/").at(-1) ?? zone).replaceAll("_", " ");
}

/** The address of the page of a device. */
export function deviceHref(kind: string, name: string): string {
  return `/devices/${kind}/${encodeURIComponent(name)}`;
}

export function DeviceLink({ kind, name, title }: { kind: string; name: string; title: string }) {
  return (
    <a href={deviceHref(kind, name)}>
      <bdi>{title}</bdi>
    </a>
  );
}

/** A past moment in words, and exactly for who points at it. */
export function Moment({ at_ms, times, as = "moment" }: MomentOf) {
  return (
    <time dateTime={new Date(at_ms).toISOString()} title={exactText(at_ms, times)}>
      {texts[as](at_ms, times)}
    </time>
  );
}

interface MomentOf {
  readonly at_ms: number;
  readonly times: Times;
  /** In which words. */
  readonly as?: keyof typeof texts;
}

const texts = { moment: momentText, day: dayText, ago: agoText };

/** A moment in few words, which tells itself to the millisecond when it is pointed at or reached by the keyboard. */
export function ExactMoment({ at_ms, text, exact }: { at_ms: number; text: string; exact: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: the exact time is shown on focus
    <time class="exact" dateTime={new Date(at_ms).toISOString()} tabIndex={0} data-exact={exact}>
      {text}
    </time>
  );
}
