/**
 * The figures of a run as a table in Markdown, a row each, in the order in which they are given. `--record` puts it into the
 * document that has a place for it.
 */
export function figuresText(figures: Readonly<Record<string, string | number>>): string {
  const rows = Object.entries(figures).map(
    ([what, figure]) =>
      `| ${what} | ${typeof figure === "number" ? figure.toLocaleString("en-US", { maximumFractionDigits: 1 }) : figure} |`,
  );
  return ["| | |", "| --- | ---: |", ...rows].join("\n");
}
