import type { Show } from "./page.ts";
import { showDevice } from "./pages/device/data.ts";
import { showHome } from "./pages/home/data.ts";
import { showHomes } from "./pages/homes/data.ts";
import { showRecorded } from "./pages/recorded/data.ts";
import { showSetupVisit } from "./pages/walk/data.ts";
import type { PageName } from "./paths.ts";

/** The function that finds the data of each page. */
// biome-ignore lint/suspicious/noExplicitAny: each page has data of its own, that its component takes
export const shows: Readonly<Record<PageName, Show<any>>> = {
  home: showHome,
  device: showDevice,
  homes: showHomes,
  walk: showSetupVisit,
  recorded: showRecorded,
};
