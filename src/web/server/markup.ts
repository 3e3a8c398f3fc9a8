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

function render(content: MarkupPart): string {
  if (content === undefined) return "";
  if (content instanceof Markup) return content.text;
  if (typeof content === "string" || typeof content === "number") return escapeText(String(content));
  return content.map(render).join("");
}

function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
