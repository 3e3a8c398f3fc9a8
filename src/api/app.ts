import { Elysia } from "elysia";
import { type App, type AppContext, authorised, costing } from "../http/app.ts";
import { pathReader, queryReader } from "../http/parameters.ts";
import { VisibleStores } from "../store/seen-store.ts";
import type { Store } from "../store/store.ts";
import { requireCodingAccepted, requireJsonAccepted } from "./accept.ts";
import { EncodedAnswer, respond, successWith } from "./content.ts";
import { documents } from "./documents.ts";
import { endpoints } from "./endpoints.ts";
import { PageCache } from "./page-cache.ts";
import { exclusive } from "./parameters.ts";
import { inPieces, isLong } from "./pieces.ts";
import { versionsOf } from "./versions/history.ts";
import { newestVersion } from "./versions.ts";

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
