import { RecentlyUsed } from "../../base/recently-used.ts";
import { seriesNames, seriesOf } from "../../domain/series.ts";
import type { Token } from "../../domain/token.ts";
import type { VisibleStore, VisibleStores } from "../../store/visible-store.ts";
import type { Authorization } from "../server/authorization.ts";
import type { Budget } from "../server/caller-budget.ts";
import { addressOf, bearerIn } from "../server/elysia-app.ts";
import { HttpError } from "../server/http-errors.ts";
import { givenIn, pathReader, queryIn, queryReader } from "../server/parameters.ts";
import type { Acceptance } from "../server/responses.ts";
import { requireCodingAccepted, requireJsonAccepted } from "./encoded-answers.ts";
import { type Endpoint, exclusive } from "./endpoint.ts";
import type { CachedRequest, PageCache } from "./page-cache.ts";

/**
 * Pages of series, before Elysia finds their route. They are most of what a gateway is asked for, and of the time of a page that was never asked for before Elysia's
 * contexts, hooks and validation took a third (`./scripts/bench peers pages`). The checks are those of the routes, by the same functions: only a request that passes
 * all of them but the token is answered here, and every other one goes on to its route, which says what is wrong with it.
 */
export class QuickPages {
  readonly #routes: ReadonlyMap<string, QuickRoute>;
  readonly #version: string;
  readonly #pages: PageCache;
  readonly #stores: VisibleStores;
  readonly #asked = new RecentlyUsed<Asked>({ weight_max: asked_bytes_max });

  constructor(options: {
    version: string;
    endpoints: readonly Endpoint[];
    pages: PageCache;
    stores: VisibleStores;
  }) {
    const { version, endpoints, pages, stores } = options;
    this.#version = version;
    this.#pages = pages;
    this.#stores = stores;
    this.#routes = new Map(
      endpoints
        .filter(({ name }) => (seriesNames as readonly string[]).includes(name))
        .map((endpoint) => {
          const { kind, path } = seriesOf(endpoint.name as (typeof seriesNames)[number]);
          const route = {
            endpoint,
            query: queryReader(endpoint.query, exclusive),
            path: pathReader(endpoint.path),
          };
          return [`${kind}/${path}`, route];
        }),
    );
  }

  /** @throws HttpError where the token is none that may read */
  async answer(
    { request, headers, now_ms, changes }: Omit<CachedRequest, "token" | "accepted">,
    { authorization, budget, server }: ServerOfRequest,
  ): Promise<Response | undefined> {
    const { method, url } = request;
    if (method !== "GET") return undefined;
    const query = queryIn(url);
    const address = url.slice(0, url.length - query.length);
    const name = `${address}\n${headers}`;
    const known = this.#asked.get(name);
    const isSame = known !== undefined && known.changes === changes && authorization.stillHolds(known.token);
    const asked = isSame ? known : await this.#ask({ request, changes }, address, { authorization, server });
    const given = asked && queryOf(asked, query);
    if (asked === undefined || given === undefined) return undefined;
    if (!isSame && changes !== undefined) this.#asked.set(name, asked, name.length + asked_bytes);
    const { endpoint, path, accepted, token, store } = asked;
    const caller = { request, address: addressOf(request, server), token };
    return budget.spend(endpoint.cost ?? "light", caller, async () => {
      const handled = await endpoint.handle({ store, path, query: given, scope: token.scope, now_ms });
      // A device without such a series has an empty list, which its route answers.
      if (!("read" in handled)) return undefined;
      return this.#pages.respond(
        { request, headers, now_ms, token, accepted, changes },
        { version: this.#version, ...handled },
      );
    });
  }

  /** The question of a request but for its query; undefined where it is not of these, or anything is wrong with it but its token. */
  async #ask(
    { request, changes }: Pick<CachedRequest, "request" | "changes">,
    address: string,
    { authorization, server }: Omit<ServerOfRequest, "budget">,
  ): Promise<Asked | undefined> {
    const { headers } = request;
    const [, version, kind, itemname, last] = form.exec(address) ?? [];
    const route = version === this.#version ? this.#routes.get(`${kind}/${last}`) : undefined;
    const bearer = route && bearerIn(headers.get("authorization"));
    if (route === undefined || bearer === undefined) return undefined;
    const checked = unlessRefused(() => {
      requireJsonAccepted(headers.get("accept") ?? undefined);
      const accepted = requireCodingAccepted(headers.get("accept-encoding") ?? undefined);
      return { accepted, path: route.path["~standard"].validate({ itemname }).value };
    });
    if (checked === undefined) return undefined;
    const token = await authorization.require(
      { authorization: bearer, bearer, address: () => addressOf(request, server) },
      { scopes: ["read", "admin"], bound: true },
    );
    // Its route notes that it was used.
    if (token.restricted) return undefined;
    return { ...route, ...checked, token, store: await this.#stores.of(token, changes), changes };
  }
}

/** The parameters of a page; undefined where something is wrong with them, or they ask for another order. */
function queryOf({ query }: Asked, text: string): Record<string, unknown> | undefined {
  const given = unlessRefused(() => query["~standard"].validate(givenIn(text)).value);
  return given?.["since"] === undefined ? given : undefined;
}

function unlessRefused<Answer>(check: () => Answer): Answer | undefined {
  try {
    return check();
  } catch (thrown) {
    if (thrown instanceof HttpError) return undefined;
    throw thrown;
  }
}

interface QuickRoute {
  readonly endpoint: Endpoint;
  readonly path: ReturnType<typeof pathReader>;
  readonly query: ReturnType<typeof queryReader>;
}

/** A question whose address and headers have passed every check, as long as the store does not change and its token holds. */
interface Asked extends Omit<QuickRoute, "path"> {
  readonly path: Record<string, unknown>;
  readonly accepted: Acceptance;
  readonly token: Token;
  readonly store: VisibleStore;
  readonly changes: number | undefined;
}

interface ServerOfRequest {
  readonly authorization: Authorization;
  readonly budget: Budget;
  readonly server: Parameters<typeof addressOf>[1];
}

/** A whole address without percent signs in its path: with them the route decodes it. */
const form = /^https?:\/\/[^/]+\/v([0-9.]+)\/items\/([a-z]+)\/([^/?%]+)\/([a-z]+)\/?\??$/;

const asked_bytes_max = 512 * 1024;
/** Memory of a question besides its name, estimated. */
const asked_bytes = 1_024;
