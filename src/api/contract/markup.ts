/** A piece of HTML that is safe as it stands. */
export class Markup {
  constructor(readonly text: string) {}
}

type MarkupPart = string | number | undefined | Markup | readonly MarkupPart[];

/** HTML from a template: whatever is put into it and is no Markup itself is text, and escaped. */
export function html(strings: TemplateStringsArray, ...contents: readonly MarkupPart[]): Markup {
  const parts = strings.map((part, index) => part + render(contents[index]));
  return new Markup(parts.join(""));
}

/** Paragraphs, lists and `code`: the part of Markdown that the contract's texts use. */
export function fromMarkdown(text: string): Markup {
  const blocks = text.split("\n\n").map((block) => {
    const lines = block.split("\n");
    return lines.every((line) => line.startsWith("- "))
      ? html`<ul>${lines.map((line) => html`<li>${inline(line.slice(2))}</li>`)}</ul>`
      : html`<p>${inline(block)}</p>`;
  });
  return html`${blocks}`;
}

/** Text with `code` in it. */
export function inline(text: string): Markup {
  return html`${text.split("`").map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}

function render(content: MarkupPart): string {
  if (content === undefined) return "";
  if (content instanceof Markup) return content.text;
  if (typeof content === "string" || typeof content === "number") return escapeText(String(content));
  return content.map(render).join("");
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
