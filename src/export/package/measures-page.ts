import page from "../../../docs/derived.md" with { type: "text" };

/** The name of the file that explains the measures of a package. */
export const measuresPage = "derived.md";

/** The page about derived measures as it stands by itself, without the part about the interface: what leads to other pages of the documents is text alone. */
export function measuresPageText(): string {
  return page
    .replaceAll(/<!--.*?-->\n/g, "")
    .replace(/^## From the interface\n.*?(?=^## )/ms, "")
    .replaceAll(/\[([^\]]+)\]\((?!#)[^)]*\)/g, "$1");
}
