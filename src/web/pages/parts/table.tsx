import type { ComponentChildren, VNode } from "preact";

/** A table that scrolls by itself where it is wider than the page. */
export function Table(of: TableOf) {
  const { name, head, numbers = [], stacked = false, newest, class: style, children } = of;
  return (
    <section
      class={`wide${stacked ? " stacked" : ""}${newest === undefined ? "" : " from-end"}`}
      aria-label={name}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: who has no mouse scrolls it by the keyboard
      tabIndex={0}
    >
      <table class={style}>
        <thead>
          <tr>
            {head.map((title) =>
              typeof title === "string" ? <HeadCell key={title}>{title}</HeadCell> : title,
            )}
            {numbers.map((title, place) => (
              <HeadCell key={place} class="number">
                {title}
              </HeadCell>
            ))}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </section>
  );
}

interface TableOf {
  readonly name: string;
  /** Titles of columns, or their whole cells. */
  readonly head: readonly (string | VNode)[];
  /** Titles of the columns of numbers, which follow. */
  readonly numbers?: readonly ComponentChildren[];
  /** On a narrow screen each row is a block. */
  readonly stacked?: boolean;
  /** It opens at its right end. */
  readonly newest?: "right";
  /** Of the table within the section. */
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** The title of a column. */
export function HeadCell({ class: style, children }: { class?: string; children: ComponentChildren }) {
  return (
    <th scope="col" class={style}>
      {children}
    </th>
  );
}

/** The cells of a row that has a title and numbers. */
export function NumberCells({
  title,
  numbers,
}: {
  title: ComponentChildren;
  numbers: readonly ComponentChildren[];
}) {
  return (
    <>
      <th scope="row">{title}</th>
      {numbers.map((number, place) => (
        <td key={place} class="number">
          {number}
        </td>
      ))}
    </>
  );
}
