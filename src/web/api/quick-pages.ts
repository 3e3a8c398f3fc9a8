import { seriesNames, seriesOf } from "../../domain/series.ts";
import type { VisibleStores } from "../../store/visible-store.ts";
import type { Authorization } from "../server/authorization.ts";
import type { Budget } from "../server/caller-budget.ts";
import { addressOf, bearerIn } from "../server/elysia-app.ts";
import { HttpError } from "../server/http-errors.ts";
import { givenIn, pathReader, queryIn, queryReader } from "../server/parameters.ts";
import { requireCodingAccepted, requireJsonAccepted } from "./encoded-answers.ts";
import { type Endpoint, exclusive } from "./endpoint.ts";
import type { PageCache } from "./page-cache.ts";

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
    request: Request,
    { authorization, budget, server, now_ms, changes }: QuickRequest,
  ): Promise<Response | undefined> {
    const asked = this.#asked(request);
    if (asked === undefined) return undefined;
    const { endpoint, path, query, accepted, bearer } = asked;
    const address = () => addressOf(request, server);
    const token = await authorization.require(
      { authorization: bearer, bearer, address },
      { scopes: ["read", "admin"], bound: true },
    );
    return budget.spend(endpoint.cost ?? "light", { request, address: address(), token }, async () => {
      const store = await this.#stores.of(token, changes);
      const handled = await endpoint.handle({ store, path, query, scope: token.scope, now_ms });
      // A device without such a series has an empty list, which its route answers.
      if (!("read" in handled)) return undefined;
      return this.#pages.respond(
        { request, now_ms, token, accepted, changes },
        { version: this.#version, ...handled },
      );
    });
  }

  /** The question of a request; undefined where it is not of these, or anything is wrong with it but its token. */
  #asked(request: Request) {
    const { method, url, headers } = request;
    const [, version, kind, itemname, last] = method === "GET" ? (form.exec(url) ?? []) : [];
    const route = version === this.#version ? this.#routes.get(`${kind}/${last}`) : undefined;
    const bearer = route && bearerIn(headers.get("authorization"));
    if (route === undefined || bearer === undefined) return undefined;
    try {
      requireJsonAccepted(headers.get("accept") ?? undefined);
      const accepted = requireCodingAccepted(headers.get("accept-encoding") ?? undefined);
      const path = route.path["~standard"].validate({ itemname }).value;
      const query = route.query["~standard"].validate(givenIn(queryIn(url))).value;
      return query["since"] === undefined
        ? { endpoint: route.endpoint, path, query, accepted, bearer }
        : undefined;
    } catch (thrown) {
      if (thrown instanceof HttpError) return undefined;
      throw thrown;
    }
  }
}

interface QuickRoute {
  readonly endpoint: Endpoint;
  readonly path: ReturnType<typeof pathReader>;
  readonly query: ReturnType<typeof queryReader>;
}

interface QuickRequest {
  readonly authorization: Authorization;
  readonly budget: Budget;
  readonly server: Parameters<typeof addressOf>[1];
  readonly now_ms: number;
  readonly changes: number | undefined;
}

/** A whole address without percent signs in its path: with them the route decodes it. */
const form = /^https?:\/\/[^/]+\/v([0-9.]+)\/items\/([a-z]+)\/([^/?%]+)\/([a-z]+)\/?(?:\?|$)/;
