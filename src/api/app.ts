import { bearer } from "@elysiajs/bearer";
import { Elysia } from "elysia";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";
import { requireJsonAccepted } from "./accept.ts";
import type { Authorization } from "./authorization.ts";
import { documentsOf } from "./documents.ts";
import type { Endpoint } from "./endpoint.ts";
import { ApiError } from "./errors.ts";
import type { Exchange } from "./exchange.ts";
import { nextLink } from "./link.ts";
import { decodeQuery, readPath, readQuery } from "./parameters.ts";
import { jsonResponse, refuse } from "./responses.ts";
import type { ApiVersion } from "./versions.ts";

/** The interface as one function from a request to its response. */
export type App = (exchange: Exchange) => Promise<Response>;

/** Builds the interface: routes from the endpoints of each version, and the checks that all of them share. */
export function buildApp(options: {
  versions: ReadonlyMap<ApiVersion, readonly Endpoint[]>;
  store: Store;
  authorization: Authorization;
  log: Log;
}): App {
  const exchanges = new WeakMap<Request, Exchange>();
  const router = new Elysia({ nativeStaticResponse: false })
    .onError(({ request, code, error }) =>
      refuse(
        code === "NOT_FOUND" ? new ApiError("path_unknown", {}) : error,
        known(exchanges, request),
        options.log,
      ),
    )
    .use(bearer());
  for (const [version, endpoints] of options.versions)
    for (const endpoint of endpoints)
      router.get(`/v${version}${routeOf(endpoint.template)}`, ({ request, params, bearer }) =>
        answer({ ...options, endpoint, segments: params, bearer, exchange: known(exchanges, request) }),
      );
  for (const { path, respond } of documentsOf(options.versions))
    router.get(path, ({ request }) => respond(known(exchanges, request)));
  const fetch = router.compile().fetch;
  return async (exchange) => {
    try {
      const routed = routedRequest(exchange);
      exchanges.set(routed, exchange);
      return await fetch(routed);
    } catch (thrown) {
      return refuse(thrown, exchange, options.log);
    }
  };
}

/** The checks of every request, in the order in which they are made; the first that fails is the answer. */
async function answer(call: {
  endpoint: Endpoint;
  /** What stands in the path for each of the template's names; null where it cannot be decoded. */
  segments: Readonly<Record<string, string | null>>;
  /** The token, where the Authorization header has the form of one. */
  bearer: string | undefined;
  exchange: Exchange;
  store: Store;
  authorization: Authorization;
}): Promise<Response> {
  const { endpoint, exchange, store } = call;
  const { method, url, address, now_ms } = exchange;
  if (method !== "GET" && method !== "HEAD")
    throw new ApiError("method_not_allowed", {}, { Allow: "GET, HEAD" });
  await call.authorization.require(
    { authorization: exchange.authorization, bearer: call.bearer, address },
    endpoint.scopes,
  );
  requireJsonAccepted(exchange.accept);
  const given = decodeQuery(exchange.query);
  const path = readPath(endpoint.path, call.segments);
  const query = readQuery(endpoint.query, given);
  const handled = await endpoint.handle({ store, path, query, now_ms });
  const { body, next } = "mark" in handled ? await handled.make() : handled;
  const headers = next === undefined ? {} : { Link: nextLink(url, given, next) };
  return jsonResponse(body, { status: 200, headers });
}

/**
 * The request as the router is given it, which only finds the endpoint and the token. Elysia looks for the path
 * from a fixed place in the URL on, which a short host name would shift, and answers 404 to a method without a
 * route; the bearer plugin knows the scheme only as `Bearer`, and would also take a token from the query, where
 * it ends up in histories and logs. So host and method are ours, the query is left out, and the header is put
 * in the plugin's form.
 */
function routedRequest({ path, authorization }: Exchange): Request {
  const token = bearerForm.exec(authorization ?? "")?.[1];
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return new Request(`http://lintel.invalid${path}`, { headers });
}

/** The scheme is case-insensitive (RFC 9110 §11.1). */
const bearerForm = /^bearer +([^\s,]+)$/i;

function known(exchanges: WeakMap<Request, Exchange>, request: Request): Exchange {
  const exchange = exchanges.get(request);
  if (exchange === undefined) throw new Error("the router changed the request");
  return exchange;
}

/** `/inventory/{typename}` as the router writes it. */
function routeOf(template: string): string {
  return template.replace(/\{(\w+)\}/g, ":$1");
}
