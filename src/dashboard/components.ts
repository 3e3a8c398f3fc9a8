import { DevicePage } from "./pages/device/page.tsx";
import { HomePage } from "./pages/home/page.tsx";
import { HomesPage } from "./pages/homes/page.tsx";
import { RecordedPage } from "./pages/recorded/page.tsx";
import { RefusalPage } from "./pages/refusal/page.tsx";
import { SignInPage } from "./pages/sign-in/page.tsx";
import { WalkPage } from "./pages/walk/page.tsx";

/** The component of each page, which makes its markup of its data, at the server and again in the browser. */
export const components = {
  home: HomePage,
  device: DevicePage,
  homes: HomesPage,
  walk: WalkPage,
  recorded: RecordedPage,
  "sign-in": SignInPage,
  refusal: RefusalPage,
};
