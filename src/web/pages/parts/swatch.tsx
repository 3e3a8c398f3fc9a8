import type { ComponentChildren } from "preact";

/** A sample of how something is drawn, beside its words: `width` and 14 pixels of CSS. */
export function Swatch({ width = 32, children }: { width?: number; children: ComponentChildren }) {
  return (
    <svg class="swatch" width={width} height="14" aria-hidden="true" focusable="false">
      {children}
    </svg>
  );
}
