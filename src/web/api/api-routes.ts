import { Elysia } from "elysia";
import type { AcceptancesOf } from "../../domain/acceptance.ts";
import type { Token } from "../../domain/token.ts";
import { type Use, uses, usesHeader } from "../../domain/uses.ts";
import type { SettingOf } from "../../store/derived/home-readings.ts";
import type { Store } from "../../store/store.ts";
import { VisibleStores } from "../../store/visible-store.ts";
import { access, addressOf, pathIn, type ServerParts } from "../server/elysia-app.ts";
import { HttpError } from "../server/http-errors.ts";
import { pathReader, queryReader } from "../server/parameters.ts";
import type { CostName } from "../server/request-costs.ts";
import { textResponse } from "../server/responses.ts";
import { ArrivalStreams } from "./arrival-streams.ts";
import { pageHeaders, pageOf } from "./contract/contract-page.ts";
import { contractOf } from "./contract/openapi.ts";
import {
  EncodedAnswer,
  inPieces,
  isLong,
  requireCodingAccepted,
  requireJsonAccepted,
  respond,
  successWith,
  takesEvents,
} from "./encoded-answers.ts";
import { type Endpoint, exclusive } from "./endpoint.ts";
import { endpoints } from "./endpoints.ts";
import { askedWith, PageCache } from "./page-cache.ts";
import { QuickPages } from "./quick-pages.ts";
import { type ApiVersion, newestVersion, versionsOf } from "./versions.ts";

/**
 * Serves the API of `store`, every version of it. What all endpoints check is checked in the order in which it stands here; then come path
 * and query.
 *
 * @param options.settingOf what the configuration of its gateway says of a home
 * @param options.acceptancesOf the signed records of the installation of a home
 * @param options.cache_bytes_max of encoded pages kept in memory for those who ask for the same; 0 keeps none
 */
export function apiApp({
  store,
  cache_bytes_max = defaultCache_bytes_max,
  settingOf,
  acceptancesOf,
}: {
  store: Store;
  settingOf?: SettingOf;
  acceptancesOf?: AcceptancesOf;
  cache_bytes_max?: number;
}) {
  const pages = new PageCache({ store, cache_bytes_max });
  const stores = new VisibleStores(store);
  const versions = versionsOf(endpoints);
  const quick = new QuickPages({
    version: newestVersion,
    endpoints: versions.get(newestVersion) ?? [],
    pages,
    stores,
  });
  const { followed, stop } = arrivalStreams(store);
  const app = new Elysia({ name: "api" })
    .use(access)
    .onStop(stop)
    .onRequest(({ authorization, budget, clock, request, server }) => {
      const now_ms = clock.now().unix_ms;
      const headers = askedWith(request);
      const known = pages.recall({ request, headers, now_ms }, authorization);
      if (known !== undefined) return known;
      // Its route leaves out the homes that their consent does not cover.
      if (request.headers.has(usesHeader)) return;
      const changes = store.changes();
      return quick.answer({ request, headers, now_ms, changes }, { authorization, budget, server });
    })
    .use(documents(versions))
    .derive(() => ({ changes: store.changes() }))
    .guard({ auth: ["read", "bound", "admin"] })
    .derive(({ headers }) => {
      requireJsonAccepted(headers["accept"]);
      return { accepted: requireCodingAccepted(headers["accept-encoding"]) };
    });
  for (const [version, ofVersion] of versions)
    for (const { name, template, summary, area, path, query, handle, cost = "light" } of ofVersion)
      app.get(
        `/v${version}${template.replace(/\{(\w+)\}/g, ":$1")}`,
        (context) => {
          const { spend, request, params, query, now_ms, token, accepted, changes, headers } = context;
          const answer: AnswerTo = async (token, { query, now_ms, changes }) => {
            const uses = usesIn(headers[usesHeader.toLowerCase()]);
            const seen = await stores.of(token, changes, uses && { uses, at_ms: now_ms });
            const { scope } = token;
            return handle({ store: seen, path: params, query, scope, now_ms, settingOf, acceptancesOf });
          };
          if (query["since"] !== undefined && takesEvents(headers["accept"]))
            return followed(context, { cost, answer });
          return spend(async () => {
            const handled = await answer(token, { query, now_ms, changes });
            if ("read" in handled)
              return pages.respond(
                { request, headers: askedWith(request), now_ms, token, accepted, changes },
                { version, ...handled },
              );
            if (handled.next === undefined && isLong(handled.body)) return inPieces(handled.body, accepted);
            const content = new EncodedAnswer(handled);
            const success = successWith(content, { accepted, url: request.url, repeatable: false });
            return respond(success, { bytes: () => content.as(success.coding), request });
          });
        },
        {
          cost,
          params: pathReader(path),
          query: queryReader(query, exclusive),
          detail: { operationId: name, summary, tags: [area] },
        },
      );
  return app;
}

/** The uses that a request names; undefined: none. @throws HttpError where nobody knows one of them */
function usesIn(header: string | undefined): Use[] | undefined {
  const named = header?.split(",").map((word) => word.trim());
  return named?.map((word) => {
    const known = uses.find((use) => use === word);
    if (known !== undefined) return known;
    throw new HttpError("parameter_malformed", {
      parameter: usesHeader,
      expected: `some of ${uses.join(", ")}, with commas between`,
    });
  });
}

/** Streams of the pages of `since`, for those who take them. */
function arrivalStreams(store: Store) {
  let streams: ArrivalStreams | undefined;
  let isStopped = false;
  const followed = (call: FollowCall, { cost, answer }: { cost: CostName; answer: AnswerTo }) => {
    const { authorization, bearer, budget, clock, headers, query, request, server, token } = call;
    streams ??= new ArrivalStreams({ clock, changes: () => store.changes() });
    if (isStopped) streams.stop();
    const all = streams;
    const caller = { request, address: addressOf(request, server), token };
    // A stream ends with its token, so each page checks it.
    const find = async (since: string) => {
      const address = () => caller.address;
      const holder = await authorization.require(
        { authorization: headers["authorization"], bearer, address },
        { scopes: ["read", "admin"], bound: true },
      );
      const handled = await answer(holder, {
        query: { ...query, since },
        now_ms: clock.now().unix_ms,
        changes: store.changes(),
      });
      if ("read" in handled) throw new Error(`${request.url} has no pages of since`);
      return handled;
    };
    return budget.spend("live", caller, () =>
      all.stream(request, {
        name: `${token.id} ${pathIn(request.url)} ${JSON.stringify({ ...query, since: "" })} ${headers[usesHeader.toLowerCase()]}`,
        since: headers["last-event-id"] || String(query["since"]),
        first: (since) => budget.spend(cost, caller, () => find(since)),
        find,
      }),
    );
  };
  const stop = () => {
    isStopped = true;
    streams?.stop();
  };
  return { followed, stop };
}

/** The answer of an endpoint to the holder of a token. `changes` is `Store.changes` from before. */
type AnswerTo = (
  token: Token,
  asked: { query: Record<string, unknown>; now_ms: number; changes: number | undefined },
) => ReturnType<Endpoint["handle"]>;

interface FollowCall extends ServerParts {
  readonly bearer: string | undefined;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: Record<string, unknown>;
  readonly request: Request;
  readonly server: Parameters<typeof addressOf>[1];
  readonly token: Token;
}

/** Where the API of a server is, in its newest version: `http://127.0.0.1:8080/v0.9`. */
export function apiUrl({ origin }: { readonly origin: string }): string {
  return `${origin}/v${newestVersion}`;
}

/** Where the page of the newest version of the interface is. */
export const referencePath = `/v${newestVersion}/docs`;

const defaultCache_bytes_max = 2 * 1024 * 1024;

/** The contract of each version, for programs and as a page for people, to anybody and whatever they accept; each made when it is first asked for. */
export function documents(versions: ReadonlyMap<ApiVersion, readonly Endpoint[]>) {
  const app = new Elysia().use(access);
  for (const [version, endpoints] of versions) {
    const contract = () => contractOf(version, endpoints);
    const forPrograms = madeOnce(() => JSON.stringify(contract()));
    const forPeople = madeOnce(() => pageOf(contract(), anyOrigin));
    // The address that a server prints leads to the page that explains it.
    app.get(
      `/v${version}`,
      () => new Response(null, { status: 303, headers: { Location: `/v${version}/docs` } }),
    );
    app.get(
      `/v${version}/openapi.json`,
      ({ spend, request }) =>
        spend(() => textResponse(forPrograms(), codingOf(request), headersOf("application/json"))),
      { cost: "open" },
    );
    app.get(
      `/v${version}/docs`,
      ({ spend, request }) =>
        spend(() => {
          const text = forPeople().replaceAll(anyOrigin, new URL(request.url).origin);
          return textResponse(text, codingOf(request), headersOf("text/html; charset=utf-8"));
        }),
      { cost: "open" },
    );
  }
  return app;
}

function codingOf({ headers }: Request): string | undefined {
  return headers.get("accept-encoding") ?? undefined;
}

/** Stands for where the server is reached, until it is known from a request. */
const anyOrigin = "https://lintel.invalid";

function headersOf(contentType: string): Record<string, string> {
  return { "Content-Type": contentType, ...pageHeaders };
}

function madeOnce(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
