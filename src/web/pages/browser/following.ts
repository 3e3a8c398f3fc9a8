import { applied } from "../live-difference.ts";
import { clockText, type Times } from "../time-text.ts";

/**
 * Shows the page anew with each message of the server, which has all of its data or what has changed of it, for as long as somebody can see it: a browser has few connections to a server, and pages in the
 * background would leave none to the others. Where the connection is lost the page says since when.
 *
 * @returns a function that shows the page at another of its addresses
 */
export function follow(of: { show: (data: object) => void; times: Times }): (address: string) => void {
  const { show, times } = of;
  const lost = lostNotice(times);
  let source: EventSource | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let data: object = {};
  /** The address that the data is of. */
  let followed = location.pathname + location.search;
  let settling: ReturnType<typeof setTimeout> | undefined;

  const leave = () => {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  };
  const open = () => {
    leave();
    const { pathname, search } = location;
    followed = pathname + search;
    const opened = new EventSource(`/live${pathname === "/" ? "" : pathname}${search}`);
    source = opened;
    const come = (newer: object) => {
      lost.over();
      data = newer;
      show(data);
    };
    opened.addEventListener("message", (all) => come(JSON.parse(all.data)));
    opened.addEventListener("changed", (change) => come(applied(data, JSON.parse(change.data)) as object));
    opened.addEventListener("ended", () => location.reload());
    opened.addEventListener("error", () => {
      lost.since();
      // Of a lost connection the browser tries again by itself, of a refusal it does not.
      if (opened.readyState === EventSource.CLOSED) timer = setTimeout(ask, again_ms);
    });
  };
  /** Loads the page again where it is no longer there, or not for this token. */
  const ask = async () => {
    const answer = await fetch(location.href, { method: "HEAD", redirect: "manual" }).catch(() => undefined);
    if (answer?.type === "opaqueredirect" || answer?.status === 404 || answer?.status === 422)
      location.reload();
    else open();
  };
  /** Addresses that follow each other quickly are one step back, and asked for once. */
  const openAt = (address: string) => {
    history[settling === undefined ? "pushState" : "replaceState"](null, "", address);
    clearTimeout(settling);
    settling = setTimeout(() => {
      settling = undefined;
      open();
    }, settle_ms);
  };
  addEventListener("popstate", () => {
    if (location.pathname + location.search !== followed) open();
  });
  document.addEventListener("click", (event) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>(".span a") : null;
    const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    if (link === null || !isPlain || link.pathname !== location.pathname) return;
    event.preventDefault();
    openAt(link.href);
  });

  const look = () => (document.hidden ? leave() : open());
  document.addEventListener("visibilitychange", look);
  // The plots of the page come first.
  if (document.readyState === "complete") look();
  else addEventListener("load", look, { once: true });
  return openAt;
}

/** A line over the page that says since when it has heard nothing, and goes when it hears again. */
function lostNotice(times: Times) {
  const line = document.createElement("p");
  line.className = "lost";
  line.setAttribute("role", "status");
  line.hidden = true;
  document.body.prepend(line);
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    since: () => {
      if (timer !== undefined || !line.hidden) return;
      const time = clockText(Date.now(), times);
      timer = setTimeout(() => {
        timer = undefined;
        line.textContent = `No connection since ${time}. This page shows the data of that time, and reconnects by itself.`;
        line.hidden = false;
      }, short_ms);
    },
    over: () => {
      clearTimeout(timer);
      timer = undefined;
      line.hidden = true;
    },
  };
}

const again_ms = 5_000;
const settle_ms = 250;
/** A server that starts again is back by then. */
const short_ms = 5_000;

/** The data of a page, with the moment that it was found, unix milliseconds, by the clock of the server. */
export interface DatedData {
  readonly now_ms: number;
}

/**
 * Shows a page again each minute while nothing new comes, with the time as it is by then: "now" becomes "5 minutes ago".
 *
 * @returns what shows newer data
 */
export function ageing(show: (shown: DatedData) => void, first: DatedData): (shown: DatedData) => void {
  // By the clock of the browser that never jumps.
  let [shown, came_ms] = [first, performance.now()];
  setInterval(() => show({ ...shown, now_ms: shown.now_ms + performance.now() - came_ms }), minute_ms);
  return (newer) => {
    [shown, came_ms] = [newer, performance.now()];
    show(newer);
  };
}

const minute_ms = 60_000;
