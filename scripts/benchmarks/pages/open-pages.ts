import type { PagesGateway } from "./gateway.ts";

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
