import { bearer } from "@elysiajs/bearer";
import { type AnyElysia, Elysia, NotFoundError } from "elysia";
import type { Clock } from "../../base/clock.ts";
import type { Scope, Token } from "../../domain/token.ts";
import type { Authorization } from "./authorization.ts";
import type { Budget } from "./caller-budget.ts";
import { HttpError } from "./http-errors.ts";
import { givenIn, queryIn } from "./parameters.ts";
import type { CostName } from "./request-costs.ts";

/** An HTML page that says a refusal to a browser, where it takes one. An app that has such pages decorates itself with it, as `refusalPage`. */
export type MakeRefusalPage = (refusal: RequestRefusal) => Promise<RefusalPage>;

export interface RequestRefusal {
  readonly status: number;
  /** Of the error, as `errorTable` has it. */
  readonly code: number;
  readonly message: string;
  /** Seconds after which the browser may try again. */
  readonly retry_s?: number;
  /** Too much is under way: the same request will do in a while. */
  readonly busy: boolean;
  /** A form was sent, and its address is no page to go back to. */
  readonly form: boolean;
}

export interface RefusalPage {
  readonly text: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Parts of the server that every app has, as decorators of its requests. */
export type ServerParts = {
  readonly authorization: Authorization;
  readonly budget: Budget;
  readonly clock: Clock;
};

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

/**
 * All apps as one. An app is an Elysia plugin: `name` goes before its lines in the log, `prefix` is the beginning of its paths, and
 * `serve.maxRequestBodySize` the bytes of the largest body that any of its routes takes.
 */
export function appOf(apps: readonly AnyElysia[], { parts, refuse }: { parts: ServerParts; refuse: Refuse }) {
  const all: AnyElysia = new Elysia({ nativeStaticResponse: false })
    .decorate("authorization", parts.authorization)
    .decorate("budget", parts.budget)
    .decorate("clock", parts.clock)
    .onError(({ error, request, server }) => {
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
  for (const app of apps) all.use(app);
  return all;
}

/** The app that answers for a path, also where there is nothing at it: the first whose prefix the path begins with. */
export function appAt(apps: readonly AnyElysia[], path: string): AnyElysia | undefined {
  return apps.find(({ config: { name, prefix = "" } }) =>
    // The interface has a prefix for each of its versions.
    path.startsWith(name === "api" ? versionsPrefix : prefix),
  );
}

const versionsPrefix = "/v";

/** The findings of `auth` about a request. */
export type CheckedRequest = {
  readonly token: Token;
  /** When the request came, unix milliseconds. */
  readonly now_ms: number;
};

const checkedRequests = new WeakMap<Request, CheckedRequest>();

/** Notes the token of a request for a route that checks it by itself, so that `spend` counts it. */
export function noteChecked(request: Request, checked: CheckedRequest): void {
  checkedRequests.set(request, checked);
}

/** Findings of `auth` for hooks before the handler: Elysia runs `resolve` after it has read `params` and `query`. */
export function checkedOf(request: Request): CheckedRequest {
  const checked = checkedRequests.get(request);
  if (checked === undefined) throw new Error(`${pathIn(request.url)} has no auth`);
  return checked;
}

/** `bound` is a read token that sees a part of the store: only routes that show it no more than that name it. */
export type Grant = Scope | "bound";

/**
 * The plugin that gives routes two properties:
 *
 * - `auth` names the tokens that a route is for. Its handler has the `token`, and in `now_ms` the time at which the request came. Only path and
 *   method of a request are checked before its token.
 * - `cost` names the budget of a route (`request-costs.ts`). Its handler has `spend`, which does work within the budget of the address,
 *   and of the token where the route has `auth`.
 */
export const access = new Elysia<"", Singleton>({ name: "access" })
  // The bearer plugin knows the scheme only as `Bearer`, which is case-insensitive (RFC 9110 §11.1). Where there is another header or
  // none it takes a token from the query, where tokens end up in histories and logs: so every header is given the plugin's form, with an
  // empty token where it has none, and `Authorization.require` refuses a request without the header. Of a parameter that is given
  // twice Elysia has the last value alone.
  .derive({ as: "global" }, ({ headers, query, request }) => {
    const { authorization } = headers;
    if (authorization !== undefined) headers["authorization"] = `Bearer ${bearerIn(authorization) ?? ""}`;
    Object.assign(query, givenIn(queryIn(request.url)));
    return {};
  })
  .use(bearer())
  .macro({
    auth: (grants: Grant | readonly Grant[]) => {
      const all = [grants].flat();
      const allowed = { scopes: all.filter((one) => one !== "bound"), bound: all.includes("bound") };
      return {
        transform: async ({ authorization, bearer, clock, headers, request, server }) => {
          const now_ms = clock.now().unix_ms;
          const token = await authorization.require(
            {
              authorization: headers["authorization"],
              bearer,
              address: () => addressOf(request, server),
              use: () => useOf(request),
            },
            allowed,
          );
          noteChecked(request, { token, now_ms });
        },
        resolve: ({ request }) => checkedOf(request),
      };
    },
    cost: (cost: CostName) => ({
      resolve: ({ budget, request, server }) => ({
        spend: <Answer>(work: () => Promise<Answer> | Answer): Promise<Answer> => {
          const token = checkedRequests.get(request)?.token;
          const caller = { request, address: addressOf(request, server), ...(token && { token }) };
          return budget.spend(cost, caller, work);
        },
      }),
    }),
  });

type Singleton = {
  decorator: ServerParts;
  store: Record<never, never>;
  derive: Record<never, never>;
  resolve: Record<never, never>;
};

/** A request as the journal of restricted data has it: `GET /v0.9/homes/12/`. */
export function useOf({ method, url }: Request): string {
  const { pathname, search } = new URL(url);
  return `${method} ${pathname}${search}`;
}

/** The token in a header; undefined where it has none, or another form. */
export function bearerIn(authorization: string | null): string | undefined {
  return bearerForm.exec(authorization ?? "")?.[1];
}

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
  return peerOf(request, server)?.address ?? "an unknown address";
}

/** The client's address and port: each asks the kernel, so a request asks once. */
export function peerOf(
  request: Request,
  server: Pick<Bun.Server<unknown>, "requestIP"> | null,
): Bun.SocketAddress | null {
  const known = peers.get(request);
  if (known !== undefined) return known;
  const peer = server?.requestIP(request) ?? null;
  peers.set(request, peer);
  return peer;
}

const peers = new WeakMap<Request, Bun.SocketAddress | null>();
