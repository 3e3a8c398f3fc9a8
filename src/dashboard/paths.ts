import type { Site } from "./page.ts";

/** Every page for who is signed in: where it is, and who has it. The pages themselves are loaded when one is asked for (`pages.ts`). */
export const paths = {
  device: { path: "/devices/:kind/:name", roles: ["gateway", "central"], live: true },
  homes: { path: "/", roles: ["central"], live: false },
  recorded: { path: "/recorded", roles: ["gateway"], live: false },
  "home-recorded": { path: "/homes/:home/recorded", roles: ["central"], live: false },
  home: { path: { gateway: "/", central: "/homes/:home" }, roles: ["gateway", "central"], live: true },
} as const satisfies Record<string, PagePath>;

export type PageName = keyof typeof paths;

interface PagePath {
  /** In Elysia's form; of each role, where it is not the same in both. */
  readonly path: string | Readonly<Record<Site["role"], string>>;
  readonly roles: readonly Site["role"][];
  /** Whether the data is sent again when something has changed. */
  readonly live: boolean;
}

/** The pages of a role, and where they are there. */
export function pathsOf(role: Site["role"]): ({ readonly name: PageName } & PagePath & {
    readonly path: string;
  })[] {
  const all = Object.entries(paths) as [PageName, PagePath][];
  return all.flatMap(([name, page]) => {
    const path = typeof page.path === "string" ? page.path : page.path[role];
    return page.roles.includes(role) ? [{ ...page, name, path }] : [];
  });
}
