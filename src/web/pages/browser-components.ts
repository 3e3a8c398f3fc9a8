import type { LivePageName } from "./site.ts";

/**
 * The components of pages that change while they are looked at: the browser has these alone, and loads that of its page by itself.
 */
export const browserComponents = {
  home: async () => (await import("./home/home-page.tsx")).HomePage,
  "home-day": async () => (await import("./home-day/home-day-page.tsx")).HomeDayPage,
  device: async () => (await import("./device/device-page.tsx")).DevicePage,
  recorded: async () => (await import("./recorded/recorded-page.tsx")).RecordedPage,
  "setup-visit": async () => (await import("./setup-visit/setup-visit-page.tsx")).SetupVisitPage,
  "sign-in": async () => (await import("./sign-in/sign-in-page.tsx")).SignInPage,
} satisfies Record<LivePageName | "home-day" | "sign-in", () => Promise<unknown>>;
