import type { Site } from "./page.ts";

/** Every page for who is signed in: where it is, and who has it. The pages themselves are loaded when one is asked for (`pages.ts`). */
export const paths = {
  home: { path: "/", roles: ["gateway"], live: true },
  device: { path: "/devices/:kind/:name", roles: ["gateway", "central"], live: true },
  homes: { path: "/", roles: ["central"], live: false },
  recorded: { path: "/recorded", roles: ["gateway"], live: false },
  "home-recorded": { path: "/homes/:home/recorded", roles: ["central"], live: false },
} as const satisfies Record<string, PagePath>;

export type PageName = keyof typeof paths;

interface PagePath {
  /** In Elysia's form. */
  readonly path: string;
  readonly roles: readonly Site["role"][];
  /** Whether the data is sent again when something has changed. */
  readonly live: boolean;
}

/** The pages of a role. */
export function pathsOf(role: Site["role"]): ({ readonly name: PageName } & PagePath)[] {
  const all = Object.entries(paths) as [PageName, PagePath][];
  return all.flatMap(([name, page]) => (page.roles.includes(role) ? [{ name, ...page }] : []));
}
