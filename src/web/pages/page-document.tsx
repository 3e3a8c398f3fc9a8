import type { ComponentType } from "preact";
import { renderToString } from "preact-render-to-string";
import type { RequestRefusal } from "../server/elysia-app.ts";
import { errorTable, HttpError } from "../server/http-errors.ts";
import { showAcceptance } from "./acceptance/acceptance-data.ts";
import { showAlerts } from "./alerts/alerts-data.ts";
import { browserComponents } from "./browser-components.ts";
import { showBurnIn } from "./burn-in/burn-in-data.ts";
import { showDevice } from "./device/device-data.ts";
import { showFind } from "./find/find-data.ts";
import { showHome } from "./home/home-data.ts";
import { showHomeDay } from "./home-day/home-day-data.ts";
import { showHomes } from "./homes/homes-data.ts";
import { showMesh } from "./mesh/mesh-data.ts";
import { assets } from "./page-assets.ts";
import { showRecorded } from "./recorded/recorded-data.ts";
import { refusalWords } from "./refusal-page.tsx";
import { showSetupVisit } from "./setup-visit/setup-visit-data.ts";
import type { SignIn } from "./sign-in/sign-in-faults.ts";
import { type Asked, type PageName, paths, type Show, type ShownPage } from "./site.ts";
import { showSql } from "./sql/sql-data.ts";

/** A page with its data, for a signed-in reader. */
export async function pageText(name: PageName, asked: Asked): Promise<string> {
  return documentText({ name, ...(await shownOf(name, asked)) });
}

/** The title and the data of a page, for a signed-in reader. */
export async function shownOf(name: PageName, asked: Asked) {
  await requireShown(asked, name);
  return shows[name](asked);
}

/** Of a gateway whose home is restricted one page is left, which says so. @throws HttpError 403 */
async function requireShown({ site, token }: Asked, name: PageName): Promise<void> {
  if (site.role === "central" || name === "recorded" || token.restricted) return;
  if ((await site.store.unrestricted()) === undefined) return;
  throw new HttpError("home_restricted", { home: site.home ?? "of this gateway" });
}

/** The way in. */
export function signInText(data: SignIn & { locale: string }): Promise<string> {
  return documentText({ name: "sign-in", title: "Sign in", data: { ...data, trail: [] } });
}

/** Shown in the place of a page that there is not, or that cannot be made now. */
export function refusalText(data: RequestRefusal): Promise<string> {
  const { title } = refusalWords(data);
  // Of a home that is restricted the first page is refused too.
  const instead =
    data.code === errorTable.home_restricted.code
      ? { href: "/recorded", text: "What is recorded here, and what is not" }
      : undefined;
  return documentText({ name: "refusal", title, data: { ...data, instead, locale: "en", trail: [] } });
}

async function documentText({ name, title, data, plots = [], drawings = [] }: DocumentOf): Promise<string> {
  const { script, icon, stylesOf, modulesOf } = await assets();
  const drawn = drawings.map((one) => `browser/${one}-drawing.ts`);
  const modules = modulesOf(["browser/main.tsx", `${name}/${name}-page.tsx`, ...drawn]);
  const live = name in paths && paths[name as PageName].live;
  const Page = (await components[name]()) as ComponentType<object>;
  // "<" would let a text of the data end the element that it stands in.
  const island = JSON.stringify({ name, data, live }).replaceAll("<", "\\u003c");
  const document = (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{`${title} · Lintel`}</title>
        <link rel="icon" href={icon} type="image/svg+xml" />
        {stylesOf(name).map((href) => (
          <link key={href} rel="stylesheet" href={href} />
        ))}
        <script type="module" src={script} />
        {modules.map((href) => (
          <link key={href} rel="modulepreload" href={href} />
        ))}
        {plots.map((href) => (
          <link key={href} rel="preload" as="fetch" crossOrigin="anonymous" href={href} />
        ))}
      </head>
      <body>
        <div id="page">
          <Page {...data} />
        </div>
        <script type="application/json" id="shown" dangerouslySetInnerHTML={{ __html: island }} />
      </body>
    </html>
  );
  return `<!doctype html>${renderToString(document)}`;
}

interface DocumentOf {
  readonly name: keyof typeof components;
  readonly title: string;
  readonly data: object;
  readonly plots?: ShownPage<object>["plots"];
  readonly drawings?: ShownPage<object>["drawings"];
}

/** The function that finds the data of each page. */
// biome-ignore lint/suspicious/noExplicitAny: each page has data of its own, that its component takes
export const shows: Readonly<Record<PageName, Show<any>>> = {
  home: showHome,
  device: showDevice,
  homes: showHomes,
  "setup-visit": showSetupVisit,
  "home-day": showHomeDay,
  mesh: showMesh,
  find: showFind,
  alerts: showAlerts,
  sql: showSql,
  acceptance: showAcceptance,
  "burn-in": showBurnIn,
  recorded: showRecorded,
};

/** The component of each page, which makes its markup of its data. */
export const components = {
  ...browserComponents,
  homes: async () => (await import("./homes/homes-page.tsx")).HomesPage,
  find: async () => (await import("./find/find-page.tsx")).FindPage,
  alerts: async () => (await import("./alerts/alerts-page.tsx")).AlertsPage,
  sql: async () => (await import("./sql/sql-page.tsx")).SqlPage,
  mesh: async () => (await import("./mesh/mesh-page.tsx")).MeshPage,
  acceptance: async () => (await import("./acceptance/acceptance-page.tsx")).AcceptancePage,
  "burn-in": async () => (await import("./burn-in/burn-in-page.tsx")).BurnInPage,
  recorded: async () => (await import("./recorded/recorded-page.tsx")).RecordedPage,
  refusal: async () => (await import("./refusal-page.tsx")).RefusalPage,
};
