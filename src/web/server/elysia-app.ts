import { bearer } from "@elysiajs/bearer";
import { type AnyElysia, Elysia, NotFoundError } from "elysia";
import type { Clock } from "../../base/clock.ts";
import type { Scope } from "../../domain/token.ts";
import type { Authorization } from "./authorization.ts";
import type { Budget } from "./caller-budget.ts";
import { HttpError } from "./http-errors.ts";
import { givenIn, queryIn } from "./parameters.ts";
import type { CostName } from "./request-costs.ts";

/**
 * A part of what is served on the one port of this program, as an Elysia app: the API, sync, metrics. All that has to be
 * done around Elysia and its bearer plugin is done in this file, for every part.
 */
export interface App {
  /** Goes before its lines in the log. */
  readonly name: string;
  /** The beginning of all of its paths; the first app of a list that a path begins as answers for it. */
  readonly prefix: string;
  /** Bytes of the largest body that any of its routes takes, as it comes over the wire; absent: it reads none. */
  readonly body_bytes_max?: number;
  /** An HTML page that says a refusal to a browser, where it takes one; absent: the Error body is all there is. */
  refusalPage?(refusal: RequestRefusal): Promise<RefusalPage>;
  /** The routes, by their whole paths. */
  routes(context: AppContext): AnyElysia;
  /** Ends what would go on for as long as somebody listens, so that the server can stop. */
  stop?(): void;
}

export interface RequestRefusal {
  readonly status: number;
  readonly message: string;
  /** Seconds after which it may be asked again. */
  readonly retry_s?: number;
  /** Too much is under way: the same request will do in a while. */
  readonly busy: boolean;
}

export interface RefusalPage {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The parts that every app in the server shares. */
export interface AppContext {
  readonly authorization: Authorization;
  readonly budget: Budget;
  readonly clock: Clock;
}

/** Answers an error thrown on the way, and logs it. */
export type Refuse = (thrown: unknown, request: RefusedRequest) => Response | Promise<Response>;

export interface RefusedRequest {
  readonly method: string;
  /** Percent-encoded, as sent, without the query. */
  readonly path: string;
  readonly address: string;
  /** The Accept header. */
  readonly accept?: string | null;
}

/** All apps as one. */
export function appOf(apps: readonly App[], { context, refuse }: { context: AppContext; refuse: Refuse }) {
  const all: AnyElysia = new Elysia({ nativeStaticResponse: false }).onError(({ error, request, server }) => {
    const path = pathIn(request.url);
    const thrown = error instanceof NotFoundError ? notFound(all, path) : error;
    const { method, headers } = request;
    return refuse(thrown, {
      method,
      path,
      address: addressOf(request, server),
      accept: headers.get("accept"),
    });
  });
  for (const app of apps) all.use(app.routes(context));
  return all;
}

/**
 * Lets requests through that carry a token of one of `scopes`; a route behind it has the token, and the time at which the request
 * came. Comes before anything of the request is checked but its path and method.
 *
 * @param options.bound whether the routes show a bound read token only what it may see; otherwise it is refused
 */
export function authorised(
  scopes: readonly Scope[],
  { authorization, clock }: AppContext,
  { bound = false } = {},
) {
  return new Elysia()
    .use(requestForm)
    .derive({ as: "scoped" }, async ({ headers, bearer, request, server }) => ({
      now_ms: clock.now().unix_ms,
      token: await authorization.require(
        { authorization: headers["authorization"], bearer, address: () => addressOf(request, server) },
        { scopes, bound },
      ),
    }));
}

/** Does the work of a route that has a cost, within the budget of the address, and of the token where the path needs one. */
export function costing<Answer>(
  cost: CostName,
  { budget }: AppContext,
  call: {
    readonly request: Request;
    readonly server: Bun.Server<unknown> | null;
    readonly token?: { readonly id: string };
  },
  work: () => Promise<Answer> | Answer,
): Promise<Answer> {
  const { request, server, token } = call;
  return budget.spend(cost, { request, address: addressOf(request, server), ...(token && { token }) }, work);
}

/**
 * Headers and query in the form that the bearer plugin and the schemas of parameters understand. The plugin knows the scheme
 * only as `Bearer`, which is case-insensitive (RFC 9110 §11.1). Where there is another header or none it takes a token from
 * the query, where tokens end up in histories and logs: so every header is given the plugin's form, with an empty token where it
 * has none, and `Authorization.require` refuses a request without the header. Of a parameter that is given twice Elysia
 * has the last value alone.
 */
const requestForm = new Elysia({ name: "request form" })
  .derive({ as: "global" }, ({ headers, query, request }) => {
    const { authorization } = headers;
    if (authorization !== undefined)
      headers["authorization"] = `Bearer ${bearerForm.exec(authorization)?.[1] ?? ""}`;
    Object.assign(query, givenIn(queryIn(request.url)));
    return {};
  })
  .use(bearer());

const bearerForm = /^bearer +([^\s,]+)$/i;

/** A path that nothing answers: none at all, or one that takes other methods. Elysia does not tell the two apart. */
function notFound({ router }: AnyElysia, path: string): HttpError {
  const bare = path.replace(/\/$/, "");
  const fixed = router.static[bare] ?? router.static[`${bare}/`] ?? {};
  const there = ["POST", "PUT", "GET"].filter((method) => method in fixed || router.http.find(method, path));
  if (there.length === 0) return new HttpError("path_unknown", {});
  // Elysia answers HEAD wherever it answers GET.
  const methods = there.includes("GET") ? [...there, "HEAD"] : there;
  const headers = { Allow: methods.join(", ") };
  // The API has a number of its own for this.
  return path.startsWith("/v")
    ? new HttpError("method_not_allowed", {}, headers)
    : new HttpError("method_unsuitable", { methods: methods.join(" or ") }, headers);
}

/**
 * Gives a request the address under which Elysia finds its path: it looks for the first slash from the twelfth character on,
 * behind which the path of a host with a short name begins. Such a host gets a port of five digits, which is the same address.
 *
 * @returns false where the Host header is missing or malformed: then Bun makes no whole address
 */
export function makeRoutable(request: Request): boolean {
  const parts = originForm.exec(request.url);
  if (parts === null) return false;
  const [origin, scheme, host, port = scheme === "http" ? "80" : "443"] = parts;
  if (origin.length < elysiaOrigin_min)
    Object.defineProperty(request, "url", {
      value: `${scheme}://${host}:${port.padStart(5, "0")}${request.url.slice(origin.length)}`,
    });
  return true;
}

const elysiaOrigin_min = 11;
const originForm = /^(https?):\/\/([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::([0-9]{1,5}))?(?=\/)/;

/** The path of a whole address, percent-encoded as it was sent; all of what is no whole address. */
export function pathIn(url: string): string {
  return /^https?:\/\/[^/]*(\/[^?]*)/.exec(url)?.[1] ?? url;
}

/** IP address of the client, for log lines and to count wrong tokens by. */
export function addressOf(request: Request, server: Pick<Bun.Server<unknown>, "requestIP"> | null): string {
  return server?.requestIP(request)?.address ?? "an unknown address";
}
