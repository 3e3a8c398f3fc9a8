import type { Page } from "playwright-core";

/** Script and style that a page has loaded. */
export interface PageLoad {
  /** Gzipped, each file by itself, kB of 1,000 bytes. */
  readonly script_kB: number;
  readonly style_kB: number;
  /** Paths of those that its document does not name: the browser learns of them only from another script. */
  readonly unnamed: readonly string[];
}

/** Script and style of a page together, gzipped. */
export const most_kB = 60;

/** How much a page may move while it comes: its cumulative layout shift, https://web.dev/articles/cls. */
export const shift_most = 0.02;

/** Faults of the script and style of the page that is open, and of how it came. */
export async function faultsOfLoad(page: Page): Promise<string[]> {
  const { script_kB, style_kB, unnamed } = await loadOf(page);
  const sum_kB = script_kB + style_kB;
  const shift = await shiftOf(page);
  return [
    ...(sum_kB > most_kB ? [`${sum_kB} kB of script and style`] : []),
    ...unnamed.map((path) => `${path} is found late`),
    ...(shift.sum > shift_most ? [`shifts by ${shift.sum}: ${shift.moved.join(", ")}`] : []),
  ];
}

/** How far the page that is open has moved since it was opened, and what moved. */
export async function shiftOf(page: Page): Promise<{ sum: number; moved: string[] }> {
  return page.evaluate(async () => {
    // What was drawn last is counted after the next frame.
    for (const _ of [1, 2]) await new Promise((resolve) => requestAnimationFrame(resolve));
    interface Shift extends PerformanceEntry {
      readonly value: number;
      readonly hadRecentInput: boolean;
      readonly sources: readonly { readonly node: Node | null }[];
    }
    const observer = new PerformanceObserver(() => {});
    observer.observe({ type: "layout-shift", buffered: true });
    const shifts = (observer.takeRecords() as Shift[]).filter(({ hadRecentInput }) => !hadRecentInput);
    return {
      sum: shifts.reduce((sum, { value }) => sum + value, 0),
      moved: shifts.flatMap(({ sources }) => sources.map(({ node }) => node?.parentElement?.className ?? "")),
    };
  });
}

/** Measures the page that is open, once everything on it is drawn. */
export async function loadOf(page: Page): Promise<PageLoad> {
  await page.waitForFunction(
    () =>
      document.readyState === "complete" &&
      document.querySelector(".drawing canvas:not([data-drawn]), .curve:not([data-points])") === null,
  );
  const { named, loaded } = await page.evaluate(() => ({
    named: [...document.querySelectorAll("script[src], link:not([crossorigin])")].map(
      (one) => new URL(one.getAttribute("src") ?? one.getAttribute("href") ?? "", location.href).href,
    ),
    loaded: performance.getEntriesByType("resource").map(({ name }) => name),
  }));
  const files = [...new Set([...named, ...loaded])].filter((url) => /\.(js|css)$/.test(url));
  let [script_kB, style_kB] = [0, 0];
  for (const url of files) {
    const kB = (await gzipBytes(url)) / 1_000;
    if (url.endsWith(".js")) script_kB += kB;
    else style_kB += kB;
  }
  if (script_kB === 0 || style_kB === 0) throw new Error(`${page.url()} loads no script, or no style`);
  const unnamed = files.filter((url) => !named.includes(url)).map((url) => new URL(url).pathname);
  return { script_kB, style_kB, unnamed };
}

/** Bytes of a file as a server sends it to a browser. */
async function gzipBytes(url: string): Promise<number> {
  const asked = { headers: { "accept-encoding": "gzip" }, decompress: false };
  const response = await fetch(url, asked as RequestInit);
  if (response.status !== 200 || response.headers.get("content-encoding") !== "gzip")
    throw new Error(`${url} is answered with ${response.status}, and not gzipped`);
  return (await response.arrayBuffer()).byteLength;
}
