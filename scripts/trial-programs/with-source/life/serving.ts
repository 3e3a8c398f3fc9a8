import type { AnyElysia } from "elysia";
import type { Clock } from "../../../../src/base/clock.ts";
import type { Log } from "../../../../src/base/log.ts";
import type { Store } from "../../../../src/store/store.ts";
import { Attempts, Authorization, TokenUses } from "../../../../src/web/server/authorization.ts";
import { Budget } from "../../../../src/web/server/caller-budget.ts";
import { appOf, type Refuse } from "../../../../src/web/server/elysia-app.ts";
import { Crowding, refusalOf, StoreOutages } from "../../../../src/web/server/refusals.ts";

/** Apps of a server on its store, with all that checks a caller, without a socket. */
export function servingOf(
  apps: readonly AnyElysia[],
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
): (request: Request) => Promise<Response> {
  const attempts = new Attempts({ clock, attempts_max: 120, addresses_max: 100 });
  const uses = new TokenUses({ store, clock, log });
  const authorization = new Authorization({ store, clock, realm: "lintel", attempts, uses });
  const outages = new StoreOutages({ clock, log });
  const crowding = new Crowding({ clock });
  const refuse: Refuse = (thrown, request) => refusalOf(thrown, request, { log, outages, crowding });
  const all = appOf(apps, {
    parts: { authorization, budget: new Budget({ clock, scale: "central" }), clock },
    refuse,
  });
  return async (request) => all.fetch(request);
}
