import type { Acceptance, Coding } from "../http/content-coding.ts";
import { type Content, namesTag } from "./content.ts";

/** A successful response but for its bytes. */
export interface Success {
  readonly coding: Coding | undefined;
  readonly headers: Headers;
  /** Present where a client that holds the same need not get it again. */
  readonly unchanged?: { readonly etag: string; readonly headers: Headers };
}

/**
 * @param options.link where the following page is
 * @param options.repeatable whether the same is likely to be asked for again: then it gets an entity tag
 */
export function successWith(
  content: Content,
  options: { accepted: Acceptance; link: string | undefined; repeatable: boolean },
): Success {
  const { accepted, link, repeatable } = options;
  const coding = content.isLarge || !accepted.identity ? accepted.coding : undefined;
  const common = {
    Vary: "Accept-Encoding",
    ...(link === undefined ? {} : { Link: link }),
    // It may be held, but never used without asking: whether it is still the same, only the store knows.
    ...(repeatable ? { ETag: content.etag, "Cache-Control": "private, no-cache" } : {}),
  };
  return {
    coding,
    headers: new Headers({
      "Content-Type": "application/json",
      ...(coding === undefined ? {} : { "Content-Encoding": coding }),
      ...common,
    }),
    ...(repeatable ? { unchanged: { etag: content.etag, headers: new Headers(common) } } : {}),
  };
}

/** The response itself; 304 where the client holds the same. To HEAD, Bun sends the same without the body. */
export function respond(
  success: Success,
  options: { bytes: () => Uint8Array; ifNoneMatch: string | null },
): Response {
  const { headers, unchanged } = success;
  if (unchanged !== undefined && namesTag(options.ifNoneMatch, unchanged.etag))
    return new Response(null, { status: 304, headers: unchanged.headers });
  return new Response(options.bytes(), { headers });
}
