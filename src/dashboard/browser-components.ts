import { DevicePage } from "./pages/device/page.tsx";
import { HomePage } from "./pages/home/page.tsx";
import { SignInPage } from "./pages/sign-in/page.tsx";
import { WalkPage } from "./pages/walk/page.tsx";

/** The components of pages that change while they are looked at: the browser has these alone. */
export const browserComponents = {
  home: HomePage,
  device: DevicePage,
  walk: WalkPage,
  "sign-in": SignInPage,
};
