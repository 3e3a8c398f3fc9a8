import type { RunningServer } from "../../testbed/front-door.ts";

/** Everything that a caller can put their token into, at once. */
export function headersOf(origin: string, token: string): Record<string, string> {
  const { port } = new URL(origin);
  const same = { "Sec-Fetch-Site": "same-origin" };
  return token === ""
    ? same
    : { ...same, authorization: `bearer ${token}`, cookie: `lintel-${port}=${token}` };
}

/** An answer that a browser holds, and the headers by which it asks whether that is still the answer. */
interface HeldAnswer {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The answers of a server that have an entity tag, to each of some tokens. */
export async function heldBy(
  { origin }: RunningServer,
  paths: readonly string[],
  tokens: readonly string[],
): Promise<HeldAnswer[]> {
  const held: HeldAnswer[] = [];
  for (const token of tokens)
    for (const path of paths) {
      const headers = { ...headersOf(origin, token), accept: "application/json" };
      const asked = new AbortController();
      const { headers: given } = await fetch(origin + path, { headers, signal: asked.signal });
      asked.abort();
      const etag = given.get("etag");
      if (etag !== null) held.push({ path, headers: { ...headers, "if-none-match": etag } });
    }
  return held;
}

/** The paths of which the server says that what a browser holds is still the answer. */
export async function stillHeld({ origin }: RunningServer, held: readonly HeldAnswer[]): Promise<string[]> {
  const found: string[] = [];
  for (const { path, headers } of held)
    if ((await fetch(origin + path, { headers })).status === 304) found.push(path);
  return found;
}

/** A page that follows what changes, with its first message; `next` answers what comes up to the end of the next one, or of the stream. */
interface OpenPage {
  readonly path: string;
  readonly first: string;
  readonly next: () => Promise<string>;
}

/** Every stream of a server that a token may have, open. */
export async function openPages(
  { origin }: RunningServer,
  paths: readonly string[],
  token: string,
): Promise<OpenPage[]> {
  const pages: OpenPage[] = [];
  for (const path of paths) {
    const headers = { ...headersOf(origin, token), accept: "text/event-stream" };
    const response = await fetch(origin + path, { headers, redirect: "manual" });
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      await response.body?.cancel();
      continue;
    }
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    const next = async () => {
      let text = "";
      while (!text.includes("data: ")) {
        const { value, done } = (await reader?.read()) ?? { done: true };
        if (done) break;
        text += value;
      }
      return text;
    };
    pages.push({ path, first: await next(), next });
  }
  return pages;
}

/** The first message of a stream, which has all that its page shows. */
export async function firstOf({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = "";
  while (!text.includes("\n\n")) {
    const { value, done } = (await reader?.read()) ?? { done: true };
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel().catch(() => {});
  return text;
}
