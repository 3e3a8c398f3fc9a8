/**
 * The components of pages that change while they are looked at: the browser has these alone, and loads that of its page by itself.
 */
export const browserComponents = {
  home: async () => (await import("./pages/home/page.tsx")).HomePage,
  device: async () => (await import("./pages/device/page.tsx")).DevicePage,
  walk: async () => (await import("./pages/walk/page.tsx")).SetupVisitPage,
  "sign-in": async () => (await import("./pages/sign-in/page.tsx")).SignInPage,
};
