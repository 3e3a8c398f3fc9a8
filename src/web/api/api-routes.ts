import { Elysia } from "elysia";
import type { SettingOf } from "../../store/derived/home-readings.ts";
import type { Store } from "../../store/store.ts";
import { VisibleStores } from "../../store/visible-store.ts";
import { access } from "../server/elysia-app.ts";
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
import { askedWith, PageCache } from "./page-cache.ts";
import { QuickPages } from "./quick-pages.ts";
import { type ApiVersion, newestVersion, versionsOf } from "./versions.ts";

/**
 * Serves the API of `store`, every version of it. What all endpoints check is checked in the order in which it stands here; then come path
 * and query.
 *
 * @param options.settingOf what the configuration of its gateway says of a home
 * @param options.cache_bytes_max of encoded pages kept in memory for those who ask for the same; 0 keeps none
 */
export function apiApp({
  store,
  cache_bytes_max = defaultCache_bytes_max,
  settingOf,
}: {
  store: Store;
  settingOf?: SettingOf;
  cache_bytes_max?: number;
}) {
  const pages = new PageCache({ store, cache_bytes_max });
  const stores = new VisibleStores(store);
  const versions = versionsOf(endpoints);
  const quick = new QuickPages({
    version: newestVersion,
    endpoints: versions.get(newestVersion) ?? [],
    pages,
    stores,
  });
  const app = new Elysia({ name: "api" })
    .use(access)
    .onRequest(({ authorization, budget, clock, request, server }) => {
      const now_ms = clock.now().unix_ms;
      const headers = askedWith(request);
      const known = pages.recall({ request, headers, now_ms }, authorization);
      if (known !== undefined) return known;
      const changes = store.changes();
      return quick.answer({ request, headers, now_ms, changes }, { authorization, budget, server });
    })
    .use(documents(versions))
    .derive(() => ({ changes: store.changes() }))
    .guard({ auth: ["read", "bound", "admin"] })
    .derive(({ headers }) => {
      requireJsonAccepted(headers["accept"]);
      return { accepted: requireCodingAccepted(headers["accept-encoding"]) };
    });
  for (const [version, ofVersion] of versions)
    for (const { name, template, summary, area, path, query, handle, cost = "light" } of ofVersion)
      app.get(
        `/v${version}${template.replace(/\{(\w+)\}/g, ":$1")}`,
        ({ spend, request, params, query, now_ms, token, accepted, changes }) =>
          spend(async () => {
            const seen = await stores.of(token, changes);
            const handled = await handle({
              store: seen,
              path: params,
              query,
              scope: token.scope,
              now_ms,
              settingOf,
            });
            if ("read" in handled)
              return pages.respond(
                { request, headers: askedWith(request), now_ms, token, accepted, changes },
                { version, ...handled },
              );
            if (handled.next === undefined && isLong(handled.body)) return inPieces(handled.body, accepted);
            const content = new EncodedAnswer(handled);
            const success = successWith(content, { accepted, url: request.url, repeatable: false });
            return respond(success, { bytes: () => content.as(success.coding), request });
          }),
        {
          cost,
          params: pathReader(path),
          query: queryReader(query, exclusive),
          detail: { operationId: name, summary, tags: [area] },
        },
      );
  return app;
}

/** Where the API of a server is, in its newest version: `http://127.0.0.1:8080/v0.9`. */
export function apiUrl({ origin }: { readonly origin: string }): string {
  return `${origin}/v${newestVersion}`;
}

const defaultCache_bytes_max = 2 * 1024 * 1024;

/** The contract of each version, for programs and as a page for people, to anybody and whatever they accept; each made when it is first asked for. */
export function documents(versions: ReadonlyMap<ApiVersion, readonly Endpoint[]>) {
  const app = new Elysia().use(access);
  for (const [version, endpoints] of versions) {
    const contract = () => contractOf(version, endpoints);
    const forPrograms = madeOnce(() => JSON.stringify(contract()));
    const forPeople = madeOnce(() => pageOf(contract(), anyOrigin));
    // The address that a server prints leads to the page that explains it.
    app.get(
      `/v${version}`,
      () => new Response(null, { status: 303, headers: { Location: `/v${version}/docs` } }),
    );
    app.get(
      `/v${version}/openapi.json`,
      ({ spend, request }) =>
        spend(() => textResponse(forPrograms(), codingOf(request), headersOf("application/json"))),
      { cost: "open" },
    );
    app.get(
      `/v${version}/docs`,
      ({ spend, request }) =>
        spend(() => {
          const text = forPeople().replaceAll(anyOrigin, new URL(request.url).origin);
          return textResponse(text, codingOf(request), headersOf("text/html; charset=utf-8"));
        }),
      { cost: "open" },
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
