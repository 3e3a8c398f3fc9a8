import { html, Markup } from "../server/markup.ts";
import { readingHeaders, readingStyle } from "../server/reading-style.ts";
import rules from "./document-page.css" with { type: "text" };
import { type Section, searchSections } from "./document-search.ts";
import type { DocumentFile, Documents } from "./documents.ts";
import { foundMarkup } from "./found-markup.ts";

/** Makes the pages of the documents, for a server and for a folder of files. */
export class DocumentPages {
  readonly #documents: Documents;
  readonly #place: Place;

  constructor(documents: Documents, place: Place) {
    this.#documents = documents;
    this.#place = place;
  }

  /** The page of one text. */
  page(file: DocumentFile): string {
    const body = this.#bodyOf(file);
    const title = /<h1[^>]*>(.*?)<\/h1>/s.exec(body)?.[1]?.replace(/<[^>]*>/g, "") ?? file.name;
    return this.#document({ title, body: new Markup(body), file });
  }

  /** The page of what was found for some words. */
  searchPage(asked: string): string {
    const found = searchSections(this.sections(), asked);
    return this.#document({ title: "Search", body: foundMarkup(found, asked), asked });
  }

  /** The parts of all texts, for a search; about 1 MB, made at the first one. */
  sections(): readonly Section[] {
    this.#sections ??= [...this.#documents.files.values()].flatMap((file) => this.#sectionsOf(file));
    return this.#sections;
  }
  #sections: readonly Section[] | undefined;

  hrefOf({ name }: DocumentFile): string {
    return `${this.#place.base}/docs${name === "" ? "" : `/${name}`}`;
  }

  #sectionsOf(file: DocumentFile): Section[] {
    const parts = this.#bodyOf(file).split(/(?=<h[1-4] id=")/);
    const plain = parts.map((part) => textOf(part));
    const document = plain.find(({ heading }) => heading !== "")?.heading ?? file.name;
    return plain
      .filter(({ heading }) => heading !== "")
      .map(({ id, ...part }) => ({ href: `${this.hrefOf(file)}#${id}`, document, ...part }));
  }

  /** A text as HTML, whose links lead to addresses of the site. */
  #bodyOf(file: DocumentFile): string {
    const text = this.#documents.textOf(file).replace(/<!--.*?-->/gs, "");
    return new HTMLRewriter()
      .on("a", {
        element: (link) => this.#lead(link, file),
        // A page has no ending.
        text: (name) => {
          if (/^[\w-]+\.md$/.test(name.text)) name.replace(name.text.slice(0, -3));
        },
      })
      .on("img", {
        element: (picture) => {
          const name = this.#documents.pictureLinked(file, picture.getAttribute("src") ?? "");
          // A package has no pictures, and whoever reads needs none.
          if (name === undefined) picture.remove();
          else
            picture
              .setAttribute("src", `${this.#place.base}/docs/pictures/${name}`)
              .setAttribute("loading", "lazy");
        },
      })
      .on("pre", {
        // A line that is longer than a phone is wide is moved by keys too.
        element: (lines) => void lines.setAttribute("tabindex", "0"),
      })
      .on("table", {
        element: (table) => {
          table.before('<div class="wide" tabindex="0">', { html: true }).after("</div>", { html: true });
        },
      })
      .transform(Bun.markdown.html(text, { headings: { ids: true }, autolinks: { url: true } }));
  }

  #lead(link: HTMLRewriterTypes.Element, file: DocumentFile): void {
    const href = link.getAttribute("href") ?? "";
    if (/^https?:/.test(href)) {
      link.setAttribute("rel", "noreferrer");
      return;
    }
    const [path = "", fragment] = href.split("#");
    if (path === "") return;
    const to = this.#documents.linked(file, path);
    // Files of the source are not here.
    if (to === undefined) link.removeAndKeepContent();
    else link.setAttribute("href", `${this.hrefOf(to)}${fragment === undefined ? "" : `#${fragment}`}`);
  }

  #document({ title, body, file, asked = "" }: Shown): string {
    const { base, script } = this.#place;
    return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · Lintel</title>
<style>${new Markup(documentStyle)}</style>
${script === undefined ? undefined : html`<script type="module" src="${script}"></script>`}
</head>
<body>
<nav aria-label="Contents">
<p class="brand"><a href="${base}/docs">Lintel</a></p>
<form action="${base}/docs" role="search"><input type="search" name="q" value="${asked}" aria-label="Search the documents" placeholder="Search" maxlength="100" required></form>
<details class="contents fold"><summary>Contents</summary>${this.#contents(file)}</details>
</nav>
<main id="main">
${body}
</main>
</body>
</html>
`.text;
  }

  /** The tasks of docs/README.md, in its groups, and the interface. */
  #contents(shown: DocumentFile | undefined): Markup {
    const list = this.#documents.files.get("");
    if (list === undefined) return new Markup("");
    const groups = this.#documents
      .textOf(list)
      .split(/^## /m)
      .slice(1)
      .map((group) => {
        const [heading = "", ...lines] = group.split("\n");
        const rows = lines.map((line) => /^\| (.+?) \| \[[^\]]*\]\(([^)#]+)/.exec(line));
        const links = rows.flatMap((row) => {
          const to = row === null ? undefined : this.#documents.linked(list, row[2] ?? "");
          return to === undefined ? [] : [{ to, task: row?.[1] ?? "" }];
        });
        return html`<h2>${heading}</h2>
<ul>${links.map(({ to, task }) =>
          to === shown
            ? html`<li><a href="${this.hrefOf(to)}" aria-current="page">${task}</a></li>`
            : html`<li><a href="${this.hrefOf(to)}">${task}</a></li>`,
        )}</ul>`;
      });
    return html`${groups}<h2>For programs</h2>
<ul><li><a href="${this.#place.base}${this.#place.reference}">the interface, request by request</a></li></ul>`;
  }
}

/** Where the pages are. */
export interface Place {
  /** Before each address, such as `` or `/lintel`. */
  readonly base: string;
  /** The page of the interface, from the base. */
  readonly reference: string;
  /** The address of a script that searches, where no server does. */
  readonly script?: string;
}

interface Shown {
  readonly title: string;
  readonly body: Markup;
  readonly file?: DocumentFile;
  readonly asked?: string;
}

const documentStyle = `${readingStyle}${rules}`;
export const documentHeaders = readingHeaders(documentStyle, { isLinked: true });

/** A part of a page as text. */
function textOf(part: string): { id: string; heading: string; text: string; code: string } {
  const [, id = "", heading = ""] = /^<h[1-4] id="([^"]*)">(.*?)<\/h[1-4]>/s.exec(part) ?? [];
  const body = part.replace(/^<h[1-4] .*?<\/h[1-4]>/s, "");
  const code = [...body.matchAll(/<pre.*?<\/pre>/gs)].map(([lines]) => plainText(lines)).join(" ");
  const text = body
    .replace(/<pre.*?<\/pre>/gs, "")
    .replace(/<thead.*?<\/thead>/gs, "")
    .replace(/<\/td>\s*<td[^>]*>/g, ": ")
    .split(/<\/(?:p|li|tr|h[1-6])>/)
    .map((block) => plainText(block).replace(/^[: ]+/, ""))
    .filter(Boolean)
    .join("\n");
  return { id, heading: plainText(heading), text, code };
}

function plainText(markup: string): string {
  return markup
    .replace(/<\/?(?:code|a|em|strong|b|i|del)\b[^>]*>/g, "")
    .replace(/<[^>]*>/g, " ")
    .replace(/&(lt|gt|amp|quot|#39|#x27);/g, (_, name: string) => entities[name] ?? "")
    .replace(/\s+/g, " ")
    .trim();
}

const entities: Readonly<Record<string, string>> = {
  lt: "<",
  gt: ">",
  amp: "&",
  quot: '"',
  "#39": "'",
  "#x27": "'",
};
