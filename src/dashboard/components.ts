import { browserComponents } from "./browser-components.ts";

/** The component of each page, which makes its markup of its data. */
export const components = {
  ...browserComponents,
  homes: async () => (await import("./pages/homes/page.tsx")).HomesPage,
  recorded: async () => (await import("./pages/recorded/page.tsx")).RecordedPage,
  refusal: async () => (await import("./pages/refusal/page.tsx")).RefusalPage,
};
