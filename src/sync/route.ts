import type { App, House } from "../http/app.ts";
import { bearerIn } from "../http/authorization.ts";
import type { BodyCoding } from "../http/body.ts";
import { requireBody } from "../http/body.ts";
import { HttpError } from "../http/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Scope, Token } from "../token.ts";
import { syncPath } from "./protocol.ts";

/** One row of what a side of sync serves. */
export interface Route {
  readonly method: "GET" | "POST" | "PUT";
  /** Below `/sync/v1`. */
  readonly path: string;
  readonly scopes: readonly Scope[];
  /** A token that is bound to another home than this is refused. */
  readonly home?: number;
  /** Form of the request body; absent: none, and a body that is sent is not read. */
  readonly body?: BodyForm;
  answer(call: Call): Promise<Response>;
}

export interface BodyForm {
  readonly type: string;
  readonly codings: readonly BodyCoding[];
  /** Bytes as they come over the wire. */
  readonly bytes_max: number;
}

export interface Call {
  readonly exchange: Exchange;
  /** The token that authorised the request. */
  readonly token: Token;
  /** The home that the token is bound to. @throws HttpError 401 where it is bound to none */
  home(): number;
}

/** Serves a table of routes: path, method, token and kind of body are checked here, in this order, all before any body is read. */
export function syncApp(routes: readonly Route[]): App {
  const paths = Map.groupBy(routes, ({ path }) => `${syncPath}${path}`);
  return {
    name: "sync",
    build: ({ authorization }: House) => ({
      takes: (path) => path.startsWith(`${syncPath}/`),
      body_bytes_max: drained_factor * Math.max(...routes.map(({ body }) => body?.bytes_max ?? 0)),
      respond: async (exchange) => {
        const { method, path, address } = exchange;
        const there = paths.get(path);
        if (there === undefined) throw new HttpError("path_unknown", {});
        const route = there.find((one) => one.method === method);
        if (route === undefined) throw methodUnsuitable(there);
        const bearer = bearerIn(exchange.authorization);
        const asked = { authorization: exchange.authorization, bearer, address };
        const token = await authorization.require(asked, route.scopes);
        if (route.home !== undefined) authorization.requireHome(token, route.home);
        if (route.body !== undefined) requireBody(exchange, route.body);
        return route.answer({ exchange, token, home: () => authorization.homeOf(token) });
      },
    }),
  };
}

function methodUnsuitable(there: readonly Route[]): HttpError {
  const methods = there.map(({ method }) => method);
  return new HttpError("method_unsuitable", { methods: methods.join(" or ") }, { Allow: methods.join(", ") });
}

/** Up to this many times the largest body is read and thrown away, so that who sends too much hears why; more is cut off. */
const drained_factor = 4;
