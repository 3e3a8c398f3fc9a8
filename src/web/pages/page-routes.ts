import { Elysia } from "elysia";
import type { Clock } from "../../base/clock.ts";
import { VisibleStores } from "../../store/visible-store.ts";
import { type App, type AppContext, addressOf, costing } from "../server/elysia-app.ts";
import { HttpError } from "../server/http-errors.ts";
import { readBody } from "../server/request-body.ts";
import type { CostName } from "../server/request-costs.ts";
import { readAcceptEncoding, sent, textResponse } from "../server/responses.ts";
import { Live } from "./live-pages.ts";
import { endedCookies, isOwnForm, sessionCookie, tokenIn } from "./session-cookie.ts";
import { type SignIn, type SignInFault, signInFaults } from "./sign-in/sign-in-faults.ts";
import { type Asked, pathsOf, type Site } from "./site.ts";

/**
 * The pages for people, at `/` of either role. What makes them is loaded when somebody first asks for one: a gateway that nobody looks at keeps none of it
 * in memory.
 */
export function dashboardApp(site: Site): App {
  let live: Live | undefined;
  return {
    name: "pages",
    prefix: "/",
    routes: (context) => {
      live = new Live({ clock: context.clock, changes: () => changesOf(site) });
      return routesOf(site, { ...context, live });
    },
    refusalPage: async (refusal) => ({
      text: await (await pageMaker()).refusalText(refusal),
      headers: pageHeaders,
    }),
    stop: () => live?.stop(),
  };
}

/** Of the store, and of what its pages show besides. */
function changesOf({ store, walk }: Site): number | undefined {
  const changes = store.changes();
  return changes === undefined ? undefined : changes + (walk?.changes ?? 0);
}

const pageMaker = () => import("./page-document.tsx");

interface Call {
  readonly request: Request;
  readonly server: Bun.Server<unknown> | null;
  readonly params: Readonly<Record<string, string>>;
}

function routesOf(site: Site, context: AppContext & { live: Live }) {
  const { budget, clock, live } = context;
  const stores = new VisibleStores(site.store);
  const sessions = sessionRoutes(context);

  const asked = async (call: Call): Promise<Asked> => {
    const token = await sessions.tokenOf(call, tokenIn(call.request));
    return {
      site,
      store: await stores.of(token, site.store.changes()),
      token,
      origin: new URL(call.request.url).origin,
      params: call.params,
      query: new URL(call.request.url).searchParams,
      locale: localeOf(call.request.headers.get("accept-language")),
      now_ms: clock.now().unix_ms,
    };
  };

  /** Answers who is signed in, within the budget of the token and the address. */
  const answer = async (call: Call, cost: CostName, handle: (asked: Asked) => Promise<Response>) => {
    const known = await asked(call);
    return budget.spend(cost, callerOf(call, known), () => handle(known));
  };

  const app = sessions.app.get("/assets/:build/:file", (call) =>
    costing("open", context, call, () => assetAt(call.request)),
  );
  app.get("/plots/:kind/:name/:measure", (call) =>
    answer(call, "heavy", async (known) => {
      const { plotOf } = await import("./device/plot-data.ts");
      return plotOf(known, call.request.headers.get("accept-encoding"));
    }),
  );
  app.get("/downloads/:kind/:name/:file", (call) =>
    answer(call, "download", async (known) => {
      const { downloadOf } = await import("./device/device-download.ts");
      return downloadOf(known);
    }),
  );
  if (site.walk !== undefined) {
    const taken = async (call: Call, what: keyof typeof import("./setup-visit/setup-visit-forms.ts")) => {
      const form = await ownForm(call.request, clock);
      const forms = await import("./setup-visit/setup-visit-forms.ts");
      return seeOther(await forms[what](await asked(call), form));
    };
    app.post("/walk/joining", (call) => taken(call, "joiningForm"), { parse: "none" });
    app.post("/walk/name", (call) => taken(call, "nameForm"), { parse: "none" });
    app.post("/walk/line", (call) => taken(call, "lineForm"), { parse: "none" });
    app.post("/walk/conflict", (call) => taken(call, "conflictForm"), { parse: "none" });
    app.post("/walk/replace", (call) => taken(call, "replaceForm"), { parse: "none" });
  }
  for (const { name, path, cost, live: isLive } of pathsOf(site.role)) {
    app.get(path, async (call) => {
      const { request } = call;
      try {
        return await answer(call, cost, async (known) =>
          page(request, await (await pageMaker()).pageText(name, known)),
        );
      } catch (thrown) {
        if (!(thrown instanceof HttpError) || thrown.status !== 401) throw thrown;
        return toSignIn(request, thrown.body.code);
      }
    });
    if (!isLive) continue;
    app.get(`/live${path === "/" ? "" : path}`, async (call) => {
      const { shownOf } = await pageMaker();
      // The token is asked for each time: a stream ends with it.
      const find = async () => (await shownOf(name, await asked(call))).data;
      return answer(call, "live", async ({ token, locale }) =>
        live.stream(call.request, {
          name: `${token.id} ${locale} ${call.request.url}`,
          first: () => budget.spend(cost, callerOf(call, { token }), find),
          find,
        }),
      );
    });
  }
  return app;
}

function callerOf({ request, server }: Call, { token }: Pick<Asked, "token">) {
  return { request, address: addressOf(request, server), token };
}

/** The way in and out, and the token of who is in. */
function sessionRoutes(context: AppContext) {
  const { authorization, clock } = context;
  /** @throws HttpError 401 where the text is no token that holds, 429 where wrong ones came too often */
  const tokenOf = ({ request, server }: Omit<Call, "params">, text: string | undefined) =>
    authorization.require(
      { authorization: text, bearer: text, address: () => addressOf(request, server) },
      { scopes: ["read", "admin"], bound: true },
    );

  const signIn = async (request: Request, shown: SignIn, status = 200) => {
    const locale = localeOf(request.headers.get("accept-language"));
    return page(request, await (await pageMaker()).signInText({ ...shown, locale }), status);
  };

  const app = new Elysia()
    .get("/sign-in", (call) =>
      costing("open", context, call, () => {
        const { request } = call;
        const { searchParams } = new URL(request.url);
        const fault = signInFaults.find((one) => one === searchParams.get("fault"));
        return signIn(request, { fault, next: nextIn(searchParams.get("next")) });
      }),
    )
    .post(
      "/sign-in",
      async (call) => {
        const { request } = call;
        const form = await ownForm(request, clock);
        const token = form.get("token")?.trim() ?? "";
        const next = nextIn(form.get("next"));
        try {
          await tokenOf(call, token);
        } catch (thrown) {
          if (!(thrown instanceof HttpError) || thrown.status !== 401) throw thrown;
          return signIn(request, { fault: faultsByCode.get(thrown.body.code) ?? "invalid", next }, 403);
        }
        return seeOther(next, [sessionCookie(request, token)]);
      },
      { parse: "none" },
    )
    .post(
      "/sign-out",
      ({ request }) => {
        if (!isOwnForm(request)) throw new HttpError("form_foreign", {});
        return seeOther("/sign-in", endedCookies(request));
      },
      { parse: "none" },
    )
    // Whoever follows a link from another site comes without the cookie: the way in asks whether there is one after all.
    .get("/session", async (call) => {
      const token = tokenIn(call.request);
      const signed_in =
        token !== undefined &&
        (await tokenOf(call, token).then(
          () => true,
          (thrown) => {
            if (thrown instanceof HttpError && thrown.status === 401) return false;
            throw thrown;
          },
        ));
      return Response.json({ signed_in });
    });
  return { app, tokenOf };
}

/** The fields of a form. @throws HttpError 403 where it was sent by a page of another site */
async function ownForm(request: Request, clock: Clock): Promise<URLSearchParams> {
  if (!isOwnForm(request)) throw new HttpError("form_foreign", {});
  const bytes = await readBody(request, { ...formBounds, clock });
  return new URLSearchParams(new TextDecoder().decode(bytes));
}

/** Sends who has no session to the way in, and from there back again. One that no longer holds is ended, and it is said why. */
function toSignIn(request: Request, code: number): Response {
  const { pathname, search } = new URL(request.url);
  const query = new URLSearchParams();
  if (pathname + search !== "/") query.set("next", pathname + search);
  if (tokenIn(request) === undefined) return seeOther(`/sign-in?${query}`.replace(/\?$/, ""));
  query.set("fault", faultsByCode.get(code) ?? "ended");
  return seeOther(`/sign-in?${query}`, endedCookies(request));
}

/** A file that pages load, compressed for who takes that. */
async function assetAt(request: Request): Promise<Response> {
  const { assets } = await import("./page-assets.ts");
  const { pathname } = new URL(request.url);
  const asset = (await assets()).files.get(pathname);
  if (asset === undefined) throw new HttpError("path_unknown", {});
  const { coding = "plain" } = readAcceptEncoding(request.headers.get("accept-encoding") ?? undefined);
  return sent(asset[coding], {
    headers: {
      ...assetHeaders,
      "Content-Type": asset.type,
      ...(coding === "plain" ? {} : { "Content-Encoding": coding }),
    },
  });
}

function page(request: Request, text: string, status = 200): Response {
  const coding = request.headers.get("accept-encoding") ?? undefined;
  return textResponse(text, coding, pageHeaders, status);
}

/** A path of this server to go on to after signing in: nothing that leads elsewhere. */
function nextIn(next: string | null): string {
  return next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : "/";
}

function seeOther(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ Location: location });
  for (const cookie of cookies) headers.append("Set-Cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** Why a token does not sign in, by the code of its error. */
const faultsByCode: ReadonlyMap<number, SignInFault> = new Map([
  [40102, "expired"],
  [40104, "scope"],
]);

const formBounds = { bytes_max: 4_096, limit_ms: 10_000 };

/** A page runs this server's script alone, and asks nobody else. Nothing of it is kept by caches in between. */
export const pageHeaders = {
  "Content-Type": "text/html; charset=utf-8",
  "Cache-Control": "no-store",
  "Content-Security-Policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  "X-Content-Type-Options": "nosniff",
  // Without any referrer, browsers say nothing of where a form was sent from either (Fetch §3.2).
  "Referrer-Policy": "same-origin",
};

const assetHeaders = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "X-Content-Type-Options": "nosniff",
  Vary: "Accept-Encoding",
};

/** The language that a browser likes best, by its Accept-Language header (RFC 9110 §12.5.4), that dates and numbers can be written in. */
export function localeOf(header: string | null): string {
  const wanted = (header ?? "")
    .slice(0, length_max)
    .split(",")
    .map((part) => {
      const [tag = "", weight = "q=1"] = part.split(";");
      return { tag: tag.trim(), weight: Number(weight.trim().replace(/^q=/, "")) };
    })
    .filter(({ tag, weight }) => tagForm.test(tag) && weight > 0)
    .sort((one, other) => other.weight - one.weight);
  return wanted[0]?.tag ?? "en";
}

/** No more of the header is read. */
const length_max = 200;
/** Languages with script and region, and nothing that Intl would refuse. */
const tagForm = /^[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$/;
