import { browserComponents } from "./browser-components.ts";
import { HomesPage } from "./pages/homes/page.tsx";
import { RecordedPage } from "./pages/recorded/page.tsx";
import { RefusalPage } from "./pages/refusal/page.tsx";

/** The component of each page, which makes its markup of its data. */
export const components = {
  ...browserComponents,
  homes: HomesPage,
  recorded: RecordedPage,
  refusal: RefusalPage,
};
