import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { App, BuiltApp, House } from "../http/app.ts";
import { type Authorization, bearerIn } from "../http/authorization.ts";
import { HttpError } from "../http/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Store } from "../store/store.ts";
import { requireCodingAccepted, requireJsonAccepted } from "./accept.ts";
import { Content } from "./content.ts";
import { documentsOf } from "./documents.ts";
import type { Endpoint } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { nextLink } from "./link.ts";
import { PageCache } from "./page-cache.ts";
import { decodeQuery, readPath, readQuery } from "./parameters.ts";
import { Recall } from "./recall.ts";
import { respond, successWith } from "./success.ts";
import { versionsOf } from "./versions/history.ts";
import { type ApiVersion, newestVersion } from "./versions.ts";

/** Serves the interface of `store`, every version of it. */
export function apiApp(options: {
  store: Store;
  /** Bytes of encoded pages kept in memory for those who ask for the same; 0 keeps none. */
  cache_bytes_max?: number;
}): App {
  const { store, cache_bytes_max = defaultCache_bytes_max } = options;
  const versions = versionsOf(endpoints);
  return {
    name: "api",
    build: (house) => ({
      takes: (path) => path.startsWith("/v"),
      respond: responder({ ...house, versions, store, cache_bytes_max }),
    }),
  };
}

/** Where the interface of a server is, in its newest version: `http://127.0.0.1:8080/v0.9`. */
export function apiUrl({ origin }: { readonly origin: string }): string {
  return `${origin}/v${newestVersion}`;
}

const defaultCache_bytes_max = 2 * 1024 * 1024;

/** Puts routes together from the endpoints of each version, and the checks that all of them share. */
function responder(options: {
  versions: ReadonlyMap<ApiVersion, readonly Endpoint[]>;
  store: Store;
  authorization: Authorization;
  refuse: House["refuse"];
  cache_bytes_max: number;
}): BuiltApp["respond"] {
  const pages = new PageCache(options);
  const recall = new Recall({ ...options, pages });
  const exchanges = new WeakMap<Request, Exchange>();
  const router = new Elysia({ nativeStaticResponse: false })
    .onError(({ request, code, error }) =>
      options.refuse(
        code === "NOT_FOUND" ? new HttpError("path_unknown", {}) : error,
        known(exchanges, request),
      ),
    )
    .use(bearer());
  for (const [version, endpoints] of options.versions)
    for (const endpoint of endpoints)
      router.get(`/v${version}${routeOf(endpoint.template)}`, ({ request, params, bearer }) =>
        answer({
          ...options,
          pages,
          recall,
          version,
          endpoint,
          segments: params,
          bearer,
          exchange: known(exchanges, request),
        }),
      );
  for (const { path, respond } of documentsOf(options.versions))
    router.get(path, ({ request }) => respond(known(exchanges, request)));
  const fetch = router.compile().fetch;
  return async (exchange) => {
    const recalled = recall.respond(exchange);
    if (recalled !== undefined) return recalled;
    const routed = routedRequest(exchange);
    exchanges.set(routed, exchange);
    return await fetch(routed);
  };
}

/** The checks of every request, in the order in which they are made; the first that fails is the answer. */
async function answer(call: {
  version: ApiVersion;
  endpoint: Endpoint;
  /** Values of the path's parameters, by name; null where one cannot be decoded. */
  segments: Readonly<Record<string, string | null>>;
  /** The token, where the Authorization header has the form of one. */
  bearer: string | undefined;
  exchange: Exchange;
  store: Store;
  authorization: Authorization;
  pages: PageCache;
  recall: Recall;
}): Promise<Response> {
  const { version, endpoint, exchange, store, pages } = call;
  const { method, url, address, now_ms, ifNoneMatch } = exchange;
  if (method !== "GET" && method !== "HEAD")
    throw new HttpError("method_not_allowed", {}, { Allow: "GET, HEAD" });
  const changes = store.changes();
  const token = await call.authorization.require(
    { authorization: exchange.authorization, bearer: call.bearer, address },
    endpoint.scopes,
  );
  requireJsonAccepted(exchange.accept);
  const accepted = requireCodingAccepted(exchange.acceptEncoding);
  const given = decodeQuery(exchange.query);
  const path = readPath(endpoint.path, call.segments);
  const query = readQuery(endpoint.query, given);
  const handled = await endpoint.handle({ store, path, query, now_ms });
  const linkTo = ({ next }: Content) => (next === undefined ? undefined : nextLink(url, given, next));
  if (!("mark" in handled)) {
    const content = new Content(handled);
    const success = successWith(content, { accepted, link: linkTo(content), repeatable: false });
    return respond(success, { bytes: () => content.as(success.coding), ifNoneMatch });
  }
  const mark = `${version} ${handled.mark}`;
  const page = await pages.getOrMake(mark, handled.make);
  const success = successWith(page, { accepted, link: linkTo(page), repeatable: true });
  call.recall.keep(exchange, { changes, token, mark, success });
  return respond(success, { bytes: () => pages.bytesOf(mark, page, success.coding), ifNoneMatch });
}

/**
 * The request as the router is given it, which only finds the endpoint and the token. Elysia looks for the path
 * from a fixed place in the URL on, which a short host name would shift, and answers 404 to a method without a
 * route; the bearer plugin knows the scheme only as `Bearer`, and would also take a token from the query, where
 * it ends up in histories and logs. So host and method are ours, the query is left out, and the header is put
 * in the plugin's form.
 */
function routedRequest({ path, authorization }: Exchange): Request {
  const token = bearerIn(authorization);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Request(`http://lintel.invalid${path}`, { headers });
}

function known(exchanges: WeakMap<Request, Exchange>, request: Request): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error("the router changed the request");
  return exchange;
}

/** `/inventory/{typename}` as the router writes it. */
function routeOf(template: string): string {
  return template.replace(/\{(\w+)\}/g, ":$1");
}
