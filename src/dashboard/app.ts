import { Elysia } from "elysia";
import { type App, type AppContext, addressOf } from "../http/app.ts";
import { readBody } from "../http/body.ts";
import { readAcceptEncoding, textResponse } from "../http/content-coding.ts";
import { HttpError } from "../http/errors.ts";
import { SeenStores } from "../store/seen-store.ts";
import { Live } from "./live.ts";
import { localeOf } from "./locale.ts";
import type { Asked, Site } from "./page.ts";
import type { SignInFault } from "./pages/sign-in/page.tsx";
import { pathsOf } from "./paths.ts";
import { endedCookie, isOwnForm, sessionCookie, tokenIn } from "./session.ts";

/**
 * The pages for people, at `/` of either role. What makes them is loaded when somebody first asks for one: a gateway that nobody looks at keeps none of it
 * in memory.
 */
export function dashboardApp(site: Site): App {
  return {
    name: "pages",
    prefix: "/",
    routes: (context) => routesOf(site, context),
    refusalPage: async ({ status, message }) => (await pageMaker()).refusalText({ status, message }),
  };
}

const pageMaker = () => import("./document.tsx");

interface Call {
  readonly request: Request;
  readonly server: Bun.Server<unknown> | null;
  readonly params: Readonly<Record<string, string>>;
}

function routesOf(site: Site, { authorization, clock }: AppContext) {
  const stores = new SeenStores(site.store);
  const live = new Live({ clock, changes: () => site.store.changes() });

  /** @throws HttpError 401 where the text is no token that holds, 429 where wrong ones came too often */
  const tokenOf = ({ request, server }: Call, text: string | undefined) =>
    authorization.require(
      { authorization: text, bearer: text, address: () => addressOf(request, server) },
      { scopes: ["read", "admin"], bound: true },
    );

  const asked = async (call: Call): Promise<Asked> => {
    const token = await tokenOf(call, tokenIn(call.request));
    return {
      site,
      store: await stores.of(token, site.store.changes()),
      token,
      params: call.params,
      query: new URL(call.request.url).searchParams,
      locale: localeOf(call.request.headers.get("accept-language")),
      now_ms: clock.now().unix_ms,
    };
  };

  const app = new Elysia()
    .get("/sign-in", async ({ request }) => {
      const locale = localeOf(request.headers.get("accept-language"));
      return page(request, await (await pageMaker()).signInText({ locale }));
    })
    .post(
      "/sign-in",
      async (call) => {
        const { request } = call;
        if (!isOwnForm(request)) throw new HttpError("form_foreign", {});
        const form = new URLSearchParams(
          new TextDecoder().decode(await readBody(request, { ...formBounds, clock })),
        );
        const token = form.get("token")?.trim() ?? "";
        try {
          await tokenOf(call, token);
        } catch (thrown) {
          if (!(thrown instanceof HttpError) || thrown.status !== 401) throw thrown;
          const locale = localeOf(request.headers.get("accept-language"));
          const fault = faults.get(thrown.body.code) ?? "invalid";
          return page(request, await (await pageMaker()).signInText({ locale, fault }), 403);
        }
        return seeOther(nextIn(form.get("next")), { "Set-Cookie": sessionCookie(request.url, token) });
      },
      { parse: "none" },
    )
    .post("/sign-out", ({ request }) => {
      if (!isOwnForm(request)) throw new HttpError("form_foreign", {});
      return seeOther("/sign-in", { "Set-Cookie": endedCookie(request.url) });
    })
    .get("/assets/:file", async ({ request }) => {
      const { assets } = await import("./assets.ts");
      const { pathname } = new URL(request.url);
      const asset = Object.values(await assets()).find(({ path }) => path === pathname);
      if (asset === undefined) throw new HttpError("path_unknown", {});
      const zipped =
        readAcceptEncoding(request.headers.get("accept-encoding") ?? undefined).coding !== undefined;
      return new Response(zipped ? asset.gzip : asset.plain, {
        headers: {
          ...assetHeaders,
          "Content-Type": asset.type,
          ...(zipped ? { "Content-Encoding": "gzip" } : {}),
        },
      });
    });
  for (const { name, path } of pathsOf(site.role)) {
    app.get(path, async (call) => {
      const { request } = call;
      try {
        return page(request, await (await pageMaker()).pageText(name, await asked(call)));
      } catch (thrown) {
        if (!(thrown instanceof HttpError) || thrown.status !== 401) throw thrown;
        const { pathname, search } = new URL(request.url);
        const next = pathname === "/" ? "" : `?next=${encodeURIComponent(pathname + search)}`;
        return seeOther(`/sign-in${next}`);
      }
    });
    app.get(`/live${path === "/" ? "" : path}`, async (call) => {
      const first = await asked(call);
      const { shownOf } = await pageMaker();
      return live.stream(call.request, {
        name: `${first.token.id} ${first.locale} ${call.request.url}`,
        // The token is asked for each time: a stream ends with it.
        show: async () => (await shownOf(name, await asked(call))).data,
      });
    });
  }
  return app;
}

function page(request: Request, text: string, status = 200): Response {
  const coding = request.headers.get("accept-encoding") ?? undefined;
  const response = textResponse(text, coding, pageHeaders);
  return status === 200 ? response : new Response(response.body, { status, headers: response.headers });
}

/** A path of this server to go on to after signing in: nothing that leads elsewhere. */
function nextIn(next: string | null): string {
  return next !== null && /^\/(?![/\\])[\x21-\x7e]*$/.test(next) ? next : "/";
}

function seeOther(location: string, headers: Readonly<Record<string, string>> = {}): Response {
  return new Response(null, { status: 303, headers: { Location: location, ...headers } });
}

/** Why a token does not sign in, by the code of its error. */
const faults: ReadonlyMap<number, SignInFault> = new Map([
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
  "Referrer-Policy": "no-referrer",
};

const assetHeaders = {
  "Cache-Control": "public, max-age=31536000, immutable",
  "X-Content-Type-Options": "nosniff",
  Vary: "Accept-Encoding",
};
