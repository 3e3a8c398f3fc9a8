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
  return new Elysia({ name: "docs" })
    .use(access)
    .get(
      "/docs",
      ({ request, spend }) =>
        spend(async () => {
          const asked = new URL(request.url).searchParams.get("q");
          const { documents, pages } = await here(reference);
          if (asked !== null) return answer(request, pages.searchPage(asked.slice(0, asked_length_max)));
          return pageOf(request, "", { documents, pages });
        }),
      { cost: "open" },
    )
    .get(
      "/docs/pictures/:picture",
      ({ params: { picture }, spend }) =>
        spend(async () => {
          const { documents } = await here(reference);
          const type = typeOf(picture);
          if (type === undefined || !documents.pictures.has(picture))
            throw new HttpError("path_unknown", {});
          return new Response(Bun.file(documents.pathOfPicture(picture)), {
            headers: { ...protection, "Content-Type": type },
          });
        }),
      { cost: "open" },
    )
    .get(
      "/docs/*",
      ({ params, request, spend }) => spend(async () => pageOf(request, params["*"], await here(reference))),
      {
        cost: "open",
      },
    );
}

interface Here {
  readonly documents: Documents;
  readonly pages: DocumentPages;
}

/** @throws HttpError 404 where the program was installed without its documents */
async function here(reference: string): Promise<Here> {
  if (made !== undefined) return made;
  const documents = documentsHere();
  if (documents === undefined) throw new HttpError("path_unknown", {});
  const { DocumentPages } = await import("./document-page.ts");
  made = { documents, pages: new DocumentPages(documents, { base: "", reference }) };
  return made;
}
/** Made at the first request for a document. */
let made: Here | undefined;

/** @throws HttpError 404 where there is no text of this name */
function pageOf(request: Request, name: string, { documents, pages }: Here): Promise<Response> {
  const file = documents.files.get(name);
  if (file === undefined) throw new HttpError("path_unknown", {});
  return answer(request, pages.page(file));
}

async function answer(request: Request, text: string): Promise<Response> {
  const { documentStyle } = await import("./document-page.ts");
  const style = new Bun.CryptoHasher("sha256").update(documentStyle).digest("base64");
  return textResponse(text, request.headers.get("accept-encoding") ?? undefined, {
    ...protection,
    "Content-Type": "text/html; charset=utf-8",
    "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${style}'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  });
}

const asked_length_max = 100;

const protection = {
  "Cache-Control": "max-age=300",
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};
