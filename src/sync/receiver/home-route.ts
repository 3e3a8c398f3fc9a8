import type { Clock } from "../../clock.ts";
import { readBody, statedBytes } from "../../http/body.ts";
import { HttpError } from "../../http/errors.ts";
import type { Exchange } from "../../http/exchange.ts";
import { homeHeader } from "../protocol.ts";
import type { Route } from "../route.ts";
import type { Reception } from "./reception.ts";

/** A request of a home's gateway to central. */
export interface HomeCall {
  readonly exchange: Exchange;
  /** The home that the token is bound to: all that is answered or stored is of this one. */
  readonly home: number;
  /** The body as it came over the wire. */
  readonly body: Uint8Array<ArrayBuffer>;
}

export interface HomeRoute extends Pick<Route, "method" | "path" | "body"> {
  /** An answer that needs neither the body nor a turn; undefined where there is none. */
  early?(call: Omit<HomeCall, "body">): Promise<Response | undefined>;
  answer(call: HomeCall): Promise<Response>;
}

/** A route for sync tokens that are bound to a home, each request in its turn. */
export function homeRoute(route: HomeRoute, options: { reception: Reception; clock: Clock }): Route {
  const { method, path, body: form } = route;
  const { reception, clock } = options;
  return {
    method,
    path,
    scopes: ["sync"],
    ...(form === undefined ? {} : { body: form }),
    answer: async (call) => {
      const { exchange } = call;
      const home = call.home();
      requireHome(exchange, home);
      const early = await route.early?.({ exchange, home });
      if (early !== undefined) return early;
      const bytes_max = form?.bytes_max ?? 0;
      // A body that does not say how long it is may be as long as any.
      const guest = reception.enter(home, statedBytes(exchange) || bytes_max);
      try {
        const body =
          form === undefined
            ? new Uint8Array()
            : await readBody(exchange, { bytes_max, limit_ms: body_ms_max, clock });
        exchange.patience(turn_s_max);
        await guest.turn();
        return await route.answer({ exchange, home, body });
      } finally {
        guest.leave();
      }
    },
  };
}

/** @throws HttpError where the gateway says that it is in another home than its token: nothing of either may get to the other */
function requireHome(exchange: Exchange, home: number): void {
  const said = exchange.header(homeHeader);
  if (said !== null && said !== String(home))
    throw new HttpError("home_other", { home, gateway_home: said }, {}, { reason: "home", held_seq: 0 });
}

/** At this, the largest batch needs 3.5 KB/s. */
const body_ms_max = 300_000;
/** Nothing happens on the connection while a request waits for its turn and is worked on: Bun would close it before. */
const turn_s_max = 240;
