import { Elysia } from "elysia";
import type { Store } from "../../store/store.ts";
import { VisibleStores } from "../../store/visible-store.ts";
import { type App, type AppContext, authorised, costing } from "../server/elysia-app.ts";
import { pathReader, queryReader } from "../server/parameters.ts";
import { textResponse } from "../server/responses.ts";
import { pageOf, pageStyle } from "./contract/contract-page.ts";
import { contractOf } from "./contract/openapi.ts";
import {
  EncodedAnswer,
  inPieces,
  isLong,
  requireCodingAccepted,
  requireJsonAccepted,
  respond,
  successWith,
} from "./encoded-answers.ts";
import { type Endpoint, exclusive } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { PageCache } from "./page-cache.ts";
import { type ApiVersion, newestVersion, versionsOf } from "./versions.ts";

/** Serves the API of `store`, every version of it. */
export function apiApp(options: {
  store: Store;
  /** Bytes of encoded pages kept in memory for those who ask for the same; 0 keeps none. */
  cache_bytes_max?: number;
}): App {
  return { name: "api", prefix: "/v", routes: (context) => routesOf(options, context) };
}

/** Where the API of a server is, in its newest version: `http://127.0.0.1:8080/v0.9`. */
export function apiUrl({ origin }: { readonly origin: string }): string {
  return `${origin}/v${newestVersion}`;
}

const defaultCache_bytes_max = 2 * 1024 * 1024;

/** The routes of every version's endpoints. What all of them check is checked in the order in which it stands here; then come path and query. */
function routesOf(
  { store, cache_bytes_max = defaultCache_bytes_max }: Parameters<typeof apiApp>[0],
  context: AppContext,
) {
  const { authorization, clock } = context;
  const pages = new PageCache({ store, authorization, cache_bytes_max });
  const stores = new VisibleStores(store);
  const versions = versionsOf(endpoints);
  const app = new Elysia()
    .onRequest(({ request }) => pages.recall(request, clock.now().unix_ms))
    .use(documents(versions, context))
    .derive(() => ({ changes: store.changes() }))
    .use(authorised(["read", "admin"], context, { bound: true }))
    .derive(({ headers }) => {
      requireJsonAccepted(headers["accept"]);
      return { accepted: requireCodingAccepted(headers["accept-encoding"]) };
    });
  for (const [version, ofVersion] of versions)
    for (const { template, path, query, handle, cost = "light" } of ofVersion)
      app.get(
        `/v${version}${template.replace(/\{(\w+)\}/g, ":$1")}`,
        (call) =>
          costing(cost, context, call, async () => {
            const { request, params, query, now_ms, token, accepted, changes } = call;
            const seen = await stores.of(token, changes);
            const handled = await handle({ store: seen, path: params, query, scope: token.scope, now_ms });
            if ("read" in handled)
              return pages.respond({ request, now_ms, token, accepted, changes }, { version, ...handled });
            if (handled.next === undefined && isLong(handled.body)) return inPieces(handled.body, accepted);
            const content = new EncodedAnswer(handled);
            const success = successWith(content, { accepted, url: request.url, repeatable: false });
            return respond(success, { bytes: () => content.as(success.coding), request });
          }),
        { params: pathReader(path), query: queryReader(query, exclusive) },
      );
  return app;
}

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
