import { expect, test } from "bun:test";
import { interfaces, open } from "../../security/route-table.ts";

test.each(["gateway", "central"] as const)(
  "every route of a %s that programs ask for says in a few words what it is for",
  (role) => {
    const routes = interfaces[role].flatMap(({ routes }) => routes);
    const needToken = routes.filter(
      ({ method, path }) => !open.some(([route]) => route.test(`${method} ${path}`)),
    );
    expect(needToken.length).toBeGreaterThan(100);
    const silent = needToken.filter(({ hooks }) => !/^\w.{4,}$/.test(hooks.detail?.summary ?? ""));
    expect(silent.map(({ method, path }) => `${method} ${path}`)).toEqual([]);
  },
);
