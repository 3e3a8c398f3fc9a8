import { Elysia } from "elysia";
import { type AppContext, costing } from "../http/app.ts";
import { textResponse } from "../http/content-coding.ts";
import { contractOf } from "./contract/openapi.ts";
import { pageOf, pageStyle } from "./contract/page.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ApiVersion } from "./versions.ts";

/** The contract of each version, for programs and as a page for people, to anybody and whatever they accept; each made when it is first asked for. */
export function documents(versions: ReadonlyMap<ApiVersion, readonly Endpoint[]>, context: AppContext) {
  const app = new Elysia();
  for (const [version, endpoints] of versions) {
    const contract = () => contractOf(version, endpoints);
    const forPrograms = madeOnce(() => JSON.stringify(contract()));
    const forPeople = madeOnce(() => pageOf(contract(), anyOrigin));
    // Who opens the address that a server prints is led to what explains it.
    app.get(
      `/v${version}`,
      () => new Response(null, { status: 303, headers: { Location: `/v${version}/docs` } }),
    );
    app.get(`/v${version}/openapi.json`, (call) =>
      costing("open", context, call, () =>
        textResponse(forPrograms(), codingOf(call.request), headersOf("application/json")),
      ),
    );
    app.get(`/v${version}/docs`, (call) =>
      costing("open", context, call, () => {
        const text = forPeople().replaceAll(anyOrigin, new URL(call.request.url).origin);
        return textResponse(text, codingOf(call.request), headersOf("text/html; charset=utf-8"));
      }),
    );
  }
  return app;
}

function codingOf({ headers }: Request): string | undefined {
  return headers.get("accept-encoding") ?? undefined;
}

/** Stands for where the server is reached, until it is known from a request. */
const anyOrigin = "https://lintel.invalid";

function headersOf(contentType: string): Record<string, string> {
  return { "Content-Type": contentType, "Cache-Control": "max-age=300", ...protection };
}

/** A page may load nothing, from wherever, and has the one style that stands in it. */
const protection = {
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${hashOf(pageStyle)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64");
}

function madeOnce(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
