import type { CostName } from "../http/costs.ts";
import type { Site } from "./page.ts";

/**
 * Every page for who is signed in: where each role has it, in Elysia's form, and whether its data is sent again when something has changed. The pages themselves are
 * loaded when one is asked for (`pages.ts`).
 */
export const paths = {
  homes: { central: "/", cost: "heavy", live: false },
  home: { gateway: "/", central: "/homes/:home", cost: "heavy", live: true },
  device: { gateway: "/devices/:kind/:name", central: "/devices/:kind/:name", cost: "heavy", live: true },
  walk: { gateway: "/walk", cost: "light", live: true },
  recorded: { gateway: "/recorded", central: "/homes/:home/recorded", cost: "light", live: false },
} as const satisfies Record<string, PagePaths>;

export type PageName = keyof typeof paths;

type PagePaths = { readonly [Role in Site["role"]]?: string } & {
  readonly cost: CostName;
  readonly live: boolean;
};

/** The pages of a role, and where they are there. */
export function pathsOf(
  role: Site["role"],
): { name: PageName; path: string; cost: CostName; live: boolean }[] {
  const all = Object.entries(paths) as [PageName, PagePaths][];
  return all.flatMap(([name, { [role]: path, cost, live }]) =>
    path === undefined ? [] : [{ name, path, cost, live }],
  );
}
