import type { FrameData, Site } from "./page.ts";

/** The way from the first page to the page of a home; at central to all homes where it is not known which. */
export function trailTo(role: Site["role"], home: number | undefined): FrameData["trail"] {
  if (role === "gateway") return [{ href: "/", text: home === undefined ? "Home" : `Home ${home}` }];
  const all = { href: "/", text: "All homes" };
  return home === undefined ? [all] : [all, { href: `/homes/${home}`, text: `Home ${home}` }];
}
