import { Elysia } from "elysia";
import { access } from "../server/elysia-app.ts";
import { HttpError } from "../server/http-errors.ts";
import { textResponse } from "../server/responses.ts";
import type { DocumentPages } from "./document-page.ts";
import { type Documents, documentsHere, typeOf } from "./documents.ts";

/**
 * The documents of the project as pages at `/docs`, to anybody: they have nothing of a home. Loaded at the first request for one.
 *
 * @param reference the address of the page of the interface
 */
export function docsApp(reference: string) {
  let loaded: Loaded | undefined;
  const load = async () => {
    loaded ??= await documentsFor(reference);
    return loaded;
  };
  return new Elysia({ name: "docs" })
    .use(access)
    .get(
      "/docs",
      ({ request, spend }) =>
        spend(async () => {
          const asked = new URL(request.url).searchParams.get("q");
          const from = await load();
          if (asked === null) return pageOf(request, "", from);
          return answer(request, from.pages.searchPage(asked.slice(0, asked_length_max)), from);
        }),
      { cost: "open" },
    )
    .get(
      "/docs/pictures/:picture",
      ({ params: { picture }, spend }) =>
        spend(async () => {
          const { documents, headers } = await load();
          const type = typeOf(picture);
          if (type === undefined || !documents.pictures.has(picture)) throw new HttpError("path_unknown", {});
          return new Response(Bun.file(documents.pathOfPicture(picture)), {
            headers: { "Cache-Control": headers["Cache-Control"], "Content-Type": type },
          });
        }),
      { cost: "open" },
    )
    .get(
      "/docs/*",
      ({ params, request, spend }) => spend(async () => pageOf(request, params["*"], await load())),
      {
        cost: "open",
      },
    );
}

interface Loaded {
  readonly documents: Documents;
  readonly pages: DocumentPages;
  /** Of each page. */
  readonly headers: { readonly "Cache-Control": string };
}

/** @throws HttpError 404 where the program was installed without its documents */
async function documentsFor(reference: string): Promise<Loaded> {
  const documents = documentsHere();
  if (documents === undefined) throw new HttpError("path_unknown", {});
  const { DocumentPages, documentHeaders } = await import("./document-page.ts");
  const pages = new DocumentPages(documents, { base: "", reference });
  return { documents, pages, headers: documentHeaders };
}

/** @throws HttpError 404 where there is no text of this name */
function pageOf(request: Request, name: string, from: Loaded): Response {
  const file = from.documents.files.get(name);
  if (file === undefined) throw new HttpError("path_unknown", {});
  return answer(request, from.pages.page(file), from);
}

function answer(request: Request, text: string, { headers }: Loaded): Response {
  return textResponse(text, request.headers.get("accept-encoding") ?? undefined, {
    ...headers,
    "Content-Type": "text/html; charset=utf-8",
  });
}

const asked_length_max = 100;
