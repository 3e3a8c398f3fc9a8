import { Elysia, status } from "elysia";
import { type Clock, clockQuality } from "../../base/clock.ts";
import type { Token } from "../../store/store.ts";
import { VisibleStores } from "../../store/visible-store.ts";
import {
  access,
  addressOf,
  type MakeRefusalPage,
  noteChecked,
  type ServerParts,
  useOf,
} from "../server/elysia-app.ts";
import { HttpError } from "../server/http-errors.ts";
import { readBody } from "../server/request-body.ts";
import { readAcceptEncoding, sent, textResponse } from "../server/responses.ts";
import { askedHome } from "./asked-home.ts";
import { Live } from "./live-pages.ts";
import { pauseLengths_ms } from "./paused.ts";
import { endedCookies, isOwnForm, sessionCookie, tokenIn } from "./session-cookie.ts";
import { type SignIn, type SignInFault, signInFaults } from "./sign-in/sign-in-faults.ts";
import { type Asked, askerName, type Household, pathsOf, type Site } from "./site.ts";

/**
 * The pages for people, at `/` of either role. The first request loads their modules, so a gateway whose pages nobody opens does not have them in
 * memory.
 */
export function dashboardApp(site: Site) {
  const refusalPage: MakeRefusalPage = async (refusal) => ({
    text: await (await pageMaker()).refusalText(refusal),
    headers: pageHeaders,
  });
  const askedBy = readerOf(site);
  const signedIn = signedInTo(askedBy);
  const forms = {
    "/notes": noteForm,
    ...(site.household && { "/recorded/pause": pauseForm(site.household) }),
    ...(site.alerts && alertForms()),
    ...(site.walk && setupVisitForms()),
  };
  return new Elysia({ name: "pages" })
    .decorate({ refusalPage })
    .use(sessionRoutes)
    .use(fileRoutes(signedIn))
    .use(activityRoutes(site, signedIn))
    .use(sqlRoutes(site, askedBy))
    .use(pageRoutes(site, signedIn))
    .use(formRoutes(askedBy, forms));
}

/** Loads all that the first page of a server takes, so that its reader does not wait for it. */
export async function warmPages({ fleet }: Site): Promise<void> {
  const { assets } = await import("./page-assets.ts");
  await Promise.all([pageMaker(), assets(), fleet?.homes(undefined)]);
}

const pageMaker = () => import("./page-document.tsx");

/** A request, and what the server decorates it with. */
interface PageCall extends ServerParts {
  readonly request: Request;
  readonly server: Bun.Server<unknown> | null;
}

/** Gives routes `signedIn`: their handlers have what the reader of a session asks for. Without a session the answer is 401, or the way in. */
function signedInTo(askedBy: AskedBy) {
  return new Elysia().use(access).macro({
    signedIn: (otherwise: "or refused" | "or led to the way in") => ({
      resolve: async ({ authorization, budget, clock, params, request, server }) => {
        const call = { authorization, budget, clock, params, request, server };
        try {
          return { asked: await askedBy(call, () => useOf(request)), ask: () => askedBy(call) };
        } catch (thrown) {
          if (otherwise === "or refused" || !isUnauthorised(thrown)) throw thrown;
          return status(303, toSignIn(request, thrown.body.code));
        }
      },
    }),
  });
}

type SignedIn = ReturnType<typeof signedInTo>;

/** Answers what the reader of a session asks for; `use` is noted of a token that sees what is restricted. @throws HttpError 401 where the cookie is no token that holds, 429 */
type AskedBy = (
  call: PageCall & Pick<Asked, "params">,
  use?: () => string,
  /** A token that a program shows, where there is no session. */
  bearer?: string,
) => Promise<Asked>;

function readerOf(site: Site): AskedBy {
  const stores = new VisibleStores(site.store);
  return async (call, use, bearer) => {
    const { clock, params, request } = call;
    const token = await tokenOf(call, tokenIn(request) ?? bearer, use);
    const { origin, searchParams: query } = new URL(request.url);
    const { unix_ms: now_ms, quality } = clock.now();
    noteChecked(request, { token, now_ms });
    return {
      site,
      store: await stores.of(token, site.store.changes()),
      token,
      origin,
      params,
      query,
      locale: localeOf(request.headers.get("accept-language")),
      now_ms,
      signal: request.signal,
      isTimeKnown: quality === clockQuality.synchronised,
    };
  };
}

/** Files that pages load, plots, and files to keep. */
function fileRoutes(signedIn: SignedIn) {
  return new Elysia()
    .use(signedIn)
    .get("/assets/:build/:file", ({ request, spend }) => spend(() => assetAt(request)), { cost: "open" })
    .get(
      "/plots/:kind/:name/:measure",
      ({ asked, request, spend }) =>
        spend(async () => {
          const { plotOf } = await import("./device/plot-data.ts");
          return plotOf(asked, request.headers.get("accept-encoding"));
        }),
      { signedIn: "or refused", cost: "heavy" },
    )
    .get(
      "/downloads/:kind/:name/:file",
      ({ ask, asked, spend }) =>
        spend(async () => {
          const { downloadOf } = await import("./device/device-download.ts");
          return downloadOf(asked, ask);
        }),
      { signedIn: "or refused", cost: "download" },
    );
}

/** Small pictures of homes, at central. */
function activityRoutes({ role }: Site, signedIn: SignedIn) {
  const app = new Elysia().use(signedIn);
  if (role !== "central") return app;
  return app.get(
    "/plots/homes/:home/activity.svg",
    ({ asked, request, spend }) =>
      spend(async () => {
        const { activityPicture } = await import("./homes/activity-picture.tsx");
        const coding = request.headers.get("accept-encoding") ?? undefined;
        return textResponse(await activityPicture(asked), coding, pictureHeaders);
      }),
    { signedIn: "or refused", cost: "heavy" },
  );
}

/** The answer to a query as a file, for a browser with a session and for a program with a token. */
function sqlRoutes({ sql }: Site, askedBy: AskedBy) {
  const app = new Elysia().use(access);
  if (sql === undefined) return app;
  return app.get(
    "/sql.csv",
    async ({ authorization, bearer, budget, clock, params, request, server, spend }) => {
      const call = { authorization, budget, clock, params, request, server };
      const asked = await askedBy(call, () => useOf(request), bearer);
      return spend(async () => {
        const { sqlCsv } = await import("./sql/sql-data.ts");
        return sqlCsv(asked);
      });
    },
    { cost: "download" },
  );
}

/** Every page, and the stream of its data where it is live. */
function pageRoutes(site: Site, signedIn: SignedIn) {
  let live: Live | undefined;
  let isStopped = false;
  const app = new Elysia().use(signedIn).onStop(() => {
    isStopped = true;
    live?.stop();
  });
  for (const { name, path, cost, live: isLive } of pathsOf(site.role)) {
    app.get(
      path,
      ({ asked, request, spend }) =>
        spend(async () => page(request, await (await pageMaker()).pageText(name, asked))),
      { signedIn: "or led to the way in", cost },
    );
    if (!isLive) continue;
    app.get(
      `/live${path === "/" ? "" : path}`,
      async ({ ask, asked: { token, locale }, budget, clock, request, server, spend }) => {
        const { shownOf } = await pageMaker();
        // Check the token each time, because a stream ends with its token.
        const find = async () => (await shownOf(name, await ask())).data;
        const caller = { request, address: addressOf(request, server), token };
        live ??= new Live({ clock, changes: () => changesOf(site) });
        if (isStopped) live.stop();
        const pages = live;
        return spend(() =>
          pages.stream(request, {
            name: `${token.id} ${locale} ${request.url}`,
            first: () => budget.spend(cost, caller, find),
            find,
          }),
        );
      },
      { signedIn: "or refused", cost: "live" },
    );
  }
  return app;
}

/** Changes of the store, and of the set-up visit and its trials, which pages show too. */
function changesOf({ store, walk, acceptance }: Site): number | undefined {
  const changes = store.changes();
  return changes === undefined ? undefined : changes + (walk?.changes ?? 0) + (acceptance?.changes ?? 0);
}

/** Does what a form asks for; answers where to go on. */
type TakeForm = (asked: Asked, form: URLSearchParams) => Promise<string>;

/** Forms by their paths. Whether a page of this server sent a form is found out before who is signed in. */
function formRoutes(askedBy: AskedBy, forms: Readonly<Record<string, TakeForm>>) {
  const app = new Elysia().use(access);
  for (const [path, take] of Object.entries(forms))
    app.post(
      path,
      async ({ authorization, budget, clock, params, request, server }) => {
        const form = await ownForm(request, clock);
        const call = { authorization, budget, clock, params, request, server };
        const asked = await askedBy(call, () => useOf(request));
        return seeOther(await take(asked, form));
      },
      { parse: "none" },
    );
  return app;
}

function setupVisitForms(): Readonly<Record<string, TakeForm>> {
  const forms = () => import("./setup-visit/setup-visit-forms.ts");
  return {
    "/walk/joining": async (asked, form) => (await forms()).joiningForm(asked, form),
    "/walk/name": async (asked, form) => (await forms()).nameForm(asked, form),
    "/walk/line": async (asked, form) => (await forms()).lineForm(asked, form),
    "/walk/conflict": async (asked, form) => (await forms()).conflictForm(asked, form),
    "/walk/replace": async (asked, form) => (await forms()).replaceForm(asked, form),
    "/walk/try": async (asked, form) => (await forms()).tryForm(asked, form),
    "/walk/finish": async (asked, form) => (await forms()).finishForm(asked, form),
  };
}

function alertForms(): Readonly<Record<string, TakeForm>> {
  const forms = () => import("./alerts/alerts-data.ts");
  return {
    "/alerts/acknowledge": async (asked, form) => (await forms()).acknowledgeForm(asked, form),
    "/alerts/test": async (asked) => (await forms()).testForm(asked),
  };
}

/** The form by which the people of a home pause the recording. */
function pauseForm(household: Household): TakeForm {
  return async (asked, form) => {
    // Whose token sees nothing of this home pauses nothing of it.
    await askedHome(asked);
    const for_ms = pauseLengths_ms.get(form.get("for") ?? "");
    if (form.get("do") === "resume") await household.resume(askerName(asked));
    else if (for_ms !== undefined) await household.pause(askerName(asked), for_ms);
    else
      throw new HttpError("parameter_malformed", {
        parameter: "the length of a pause",
        expected: `one of ${[...pauseLengths_ms.keys()].join(", ")}`,
      });
    return "/recorded";
  };
}

/** The form of a note on time, which leads back to its page. */
async function noteForm(asked: Asked, form: URLSearchParams): Promise<string> {
  const forms = await import("./notes/notes-data.ts");
  await forms.noteForm(asked, form);
  return nextIn(form.get("next"));
}

/** @throws HttpError 401 where the text is no token that holds, 429 where wrong ones came too often */
function tokenOf(
  { authorization, request, server }: PageCall,
  text: string | undefined,
  use?: () => string,
): Promise<Token> {
  return authorization.require(
    { authorization: text, bearer: text, address: () => addressOf(request, server), use },
    { scopes: ["read", "admin"], bound: true },
  );
}

function isUnauthorised(thrown: unknown): thrown is HttpError {
  return thrown instanceof HttpError && thrown.status === 401;
}

async function signInPage(request: Request, shown: SignIn, status = 200): Promise<Response> {
  const locale = localeOf(request.headers.get("accept-language"));
  return page(request, await (await pageMaker()).signInText({ ...shown, locale }), status);
}

/** The way in and out. */
const sessionRoutes = new Elysia({ name: "sessions" })
  .use(access)
  .get(
    "/sign-in",
    ({ request, spend }) =>
      spend(() => {
        const { searchParams } = new URL(request.url);
        const fault = signInFaults.find((one) => one === searchParams.get("fault"));
        return signInPage(request, { fault, next: nextIn(searchParams.get("next")) });
      }),
    { cost: "open" },
  )
  .post(
    "/sign-in",
    async ({ authorization, budget, clock, request, server }) => {
      const form = await ownForm(request, clock);
      const token = form.get("token")?.trim() ?? "";
      const next = nextIn(form.get("next"));
      try {
        await tokenOf({ authorization, budget, clock, request, server }, token);
      } catch (thrown) {
        if (!isUnauthorised(thrown)) throw thrown;
        return signInPage(request, { fault: faultsByCode.get(thrown.body.code) ?? "invalid", next }, 403);
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
  .get("/session", async ({ authorization, budget, clock, request, server }) => {
    const token = tokenIn(request);
    if (token === undefined) return Response.json({ signed_in: false });
    const signed_in = await tokenOf({ authorization, budget, clock, request, server }, token).then(
      () => true,
      (thrown) => {
        if (isUnauthorised(thrown)) return false;
        throw thrown;
      },
    );
    return Response.json({ signed_in });
  });

/** The fields of a form. @throws HttpError 403 where it was sent by a page of another site */
async function ownForm(request: Request, clock: Clock): Promise<URLSearchParams> {
  if (!isOwnForm(request)) throw new HttpError("form_foreign", {});
  const bytes = await readBody(request, { ...formBounds, clock });
  return new URLSearchParams(new TextDecoder().decode(bytes));
}

/** Sends a browser without a session to the sign-in page, and from there back. Ends a session whose token is no longer valid, with the reason. HEAD ends none: a page that asks so is loaded again, and then tells the reason. */
function toSignIn(request: Request, code: number): Response {
  const { pathname, search } = new URL(request.url);
  const query = new URLSearchParams();
  if (pathname + search !== "/") query.set("next", pathname + search);
  if (tokenIn(request) === undefined) return seeOther(`/sign-in?${query}`.replace(/\?$/, ""));
  query.set("fault", faultsByCode.get(code) ?? "ended");
  return seeOther(`/sign-in?${query}`, request.method === "HEAD" ? [] : endedCookies(request));
}

/** A file that pages load, compressed if the browser accepts that. */
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

/** A path of this server to open after signing in; never an address of another server. */
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

const pictureHeaders = { "Content-Type": "image/svg+xml", "Cache-Control": "no-store" };

const formBounds = { bytes_max: 4_096, limit_ms: 10_000 };

/** A page runs only this server's script, and loads nothing from other servers. Caches in between store nothing of it. */
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

/** The English that a browser likes best, by its Accept-Language header (RFC 9110 §12.5.4): the words of pages are English, and so are their dates and numbers. */
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
/** English with script and region, and nothing that Intl would refuse. */
const tagForm = /^en(-[A-Za-z]{4})?(-([A-Za-z]{2}|[0-9]{3}))?$/i;
