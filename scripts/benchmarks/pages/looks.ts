import type { Page } from "playwright-core";
import type { PagesGateway } from "./gateway.ts";

/** How a page came to be, milliseconds since it was asked for. */
export interface Look {
  readonly painted_ms: number;
  /** When the document was there, and when its plot was asked for and answered, where it has one. */
  readonly document_ms: number;
  readonly asked_ms: number;
  readonly answered_ms: number;
  /** Everything that it shows was there. */
  readonly drawn_ms: number;
}

/** Has every document of a page note when something that a selector names had been drawn in it. */
export async function watchFor(page: Page, selector: string): Promise<void> {
  await page.addInitScript((drawn) => {
    let drawn_ms: number | undefined;
    let painted_ms: number | undefined;
    const note = () => {
      if (drawn_ms === undefined || painted_ms === undefined) return;
      const plot = performance.getEntriesByType("resource").find(({ name }) => name.includes("/plots/"));
      const timing = plot as PerformanceResourceTiming | undefined;
      const [page] = performance.getEntriesByType("navigation") as PerformanceNavigationTiming[];
      Reflect.set(globalThis, "look", {
        painted_ms,
        document_ms: page?.responseEnd ?? 0,
        asked_ms: timing?.startTime ?? 0,
        answered_ms: timing?.responseEnd ?? 0,
        drawn_ms: Math.max(drawn_ms, painted_ms),
      });
    };
    const look = () => {
      if (document.querySelector(drawn) === null) return;
      watch.disconnect();
      // What was put there by script is seen in the next frame.
      requestAnimationFrame(() =>
        setTimeout(() => {
          drawn_ms = performance.now();
          note();
        }),
      );
    };
    const watch = new MutationObserver(look);
    watch.observe(document, { subtree: true, childList: true, attributes: true });
    new PerformanceObserver((list) => {
      const paint = list.getEntries().find(({ name }) => name === "first-contentful-paint");
      if (paint === undefined) return;
      painted_ms = paint.startTime;
      note();
    }).observe({ type: "paint", buffered: true });
  }, selector);
}

/** Opens a page that is watched, and waits until it is drawn. */
export async function lookAt(page: Page, url: string): Promise<Look> {
  await page.goto("about:blank");
  await page.goto(url, { waitUntil: "commit" });
  await page.waitForFunction(() => Reflect.get(globalThis, "look") !== undefined, null, { timeout: 60_000 });
  return page.evaluate(() => Reflect.get(globalThis, "look") as Look);
}

/** Has a page come by a line of 400 kbit/s, with nothing kept of it, and by a processor four times slower than this one. */
export async function slowDown(page: Page): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send("Network.enable");
  await browser.send("Network.setCacheDisabled", { cacheDisabled: true });
  const bytes_a_second = 50_000;
  await browser.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 50,
    downloadThroughput: bytes_a_second,
    uploadThroughput: bytes_a_second,
  });
  await browser.send("Emulation.setCPUThrottlingRate", { rate: 4 });
}

/** Opens so many pages as browsers do, each with its plot and its stream of changes, and holds them open: what the gateway has grown by then. */
export async function openPages(
  gateway: PagesGateway,
  pages: number,
  paths: readonly string[],
): Promise<number> {
  const open = async (path: string): Promise<() => Promise<void>> => {
    const text = await (await gateway.ask(path)).text();
    const [, plot] = /href="(\/plots\/[^"]+)"/.exec(text) ?? [];
    if (plot !== undefined) await (await gateway.ask(plot.replaceAll("&amp;", "&"))).arrayBuffer();
    const live = `/live${path.replace(/^\/(?=\?|$)/, "")}`;
    const reader = (await gateway.ask(live, { accept: "text/event-stream" })).body?.getReader();
    await reader?.read();
    return async () => reader?.cancel();
  };
  // What a page takes that is looked at for the first time is not what one more costs.
  for (const path of paths) await (await open(path))();
  await Bun.sleep(settle_ms);
  const before_mb = gateway.resident_mb();
  const closings = [];
  for (let page = 0; page < pages; page++) closings.push(await open(paths[page % paths.length] ?? "/"));
  await Bun.sleep(settle_ms);
  const grown_mb = gateway.resident_mb() - before_mb;
  for (const close of closings) await close();
  return grown_mb;
}

/** For what was only needed to make the pages to be given back. */
const settle_ms = 3_000;
