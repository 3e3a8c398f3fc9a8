import type { Endpoint } from "../endpoint.ts";
import { changes } from "../versions/history.ts";
import { type ApiVersion, introducedBy, versions } from "../versions.ts";

/** The introduction of a version's contract, as Markdown: rules that hold for every endpoint. */
export function introduction(version: ApiVersion, endpoints: readonly Endpoint[]): string {
  const times = introducedBy("0.4", version)
    ? "Times are unix timestamps: whole seconds since 1970 in GMT."
    : "Times are text of ISO 8601 in GMT: `2013-05-01T12:00:00Z`.";
  const order = introducedBy("0.2", version) ? "newest" : "oldest";
  const news = newsOf(version, endpoints);
  const lines = [
    "Records and time series of a research programme, read-only.",
    "Every request carries `Authorization: bearer <ACCESS_TOKEN>` and an `Accept` header that names " +
      "`application/json`. Paths work with and without a slash at the end, and HEAD wherever GET does.",
    "A client that a generator has made of this document mostly sends `Accept: */*`, which is refused: give it " +
      "`Accept: application/json` as a header of all its requests, in the place where it takes the token.",
    "A token may be bound to homes, projects or studies. It then sees what belongs to these: lists have nothing else, " +
      "and what is not in them is not found.",
    `${times} Time series come ${order} first. Follow \`Link: <…>; rel="next"\` to walk all pages: nothing is ` +
      "left out or repeated while records arrive.",
    "Whatever is not a success has an Error as its body; its `code` never changes its meaning.",
    ...(news.length === 0 ? [] : [`New in ${version}:\n\n${news.map((line) => `- ${line}`).join("\n")}`]),
  ];
  return lines.join("\n\n");
}

/** Changes and additions of a version, a line each; none for the first version. */
export function newsOf(version: ApiVersion, endpoints: readonly Endpoint[]): string[] {
  if (version === versions[0]) return [];
  const changed = changes.filter((change) => change.version === version).map(({ summary }) => summary);
  const added = endpoints.filter(({ since }) => since === version).map(({ template }) => `\`${template}\``);
  return [...changed, ...added];
}
