import type { ComponentChildren } from "preact";
import type { FrameData } from "../page.ts";

/** The page around what it shows: where the reader is, and the way out. */
export function Frame({ trail, children }: FrameData & { children: ComponentChildren }) {
  return (
    <>
      <header class="top">
        <a class="brand" href="/">
          Lintel
        </a>
        <nav aria-label="Where this is">
          {trail.map(({ href, text }) => (
            <a key={href} href={href}>
              <bdi>{text}</bdi>
            </a>
          ))}
        </nav>
        <form method="post" action="/sign-out">
          <button type="submit">Sign out</button>
        </form>
      </header>
      <main>{children}</main>
    </>
  );
}
