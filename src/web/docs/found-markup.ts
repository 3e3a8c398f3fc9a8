import { html, type Markup } from "../server/markup.ts";
import type { FoundSection } from "./document-search.ts";

/** The sections that were found, as a list; browsers make it too, where the pages are files. */
export function foundMarkup(found: readonly FoundSection[], asked: string): Markup {
  const words =
    found.length === 0 ? "Nothing has all these words. Try fewer, or the beginning of one." : undefined;
  return html`<h1>${asked.trim() === "" ? "Search" : `“${asked.trim()}”`}</h1>
${words === undefined ? undefined : html`<p>${words}</p>`}
<ol class="found">${found.map(
    ({ href, document, heading, excerpt }) =>
      html`<li><a href="${href}">${heading}</a> <span class="of">${document === heading ? "" : document}</span><p>${excerpt}</p></li>`,
  )}</ol>`;
}
