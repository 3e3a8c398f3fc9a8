import type { Query } from "./parameters.ts";

/**
 * The value of a Link header that names the following page: the request's own address with the parameters of
 * `next` in place of its own, everything else in the query kept.
 *
 * @param url the request's, absolute
 */
export function nextLink(url: string, query: Query, next: Readonly<Record<string, number | string>>): string {
  const { origin, pathname } = new URL(url);
  const kept = query.filter(
    (parameter): parameter is readonly [string, string] =>
      parameter[1] !== undefined && !Object.hasOwn(next, parameter[0]),
  );
  const parameters = [...kept, ...Object.entries(next)].map(
    ([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return `<${origin}${pathname}?${parameters.join("&")}>; rel="next"`;
}
