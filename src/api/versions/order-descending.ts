import { Type } from "@sinclair/typebox";
import { reshaped } from "../endpoint.ts";
import type { VersionChange } from "./change.ts";

/** 0.2: time series came newest first, and `before` took the place of `after`, which came back beside it in 0.9. */
export const orderDescending: VersionChange = {
  version: "0.2",
  summary: "time series newest first, with `before` in the place of `after`",
  older: (endpoint) => {
    const { before } = endpoint.query.properties;
    if (before === undefined) return endpoint;
    return {
      ...endpoint,
      summary: endpoint.summary.replace("newest first", "oldest first"),
      query: Type.Object(
        Object.fromEntries(
          Object.entries(endpoint.query.properties).map(([name, schema]) =>
            name === "before" ? ["after", { ...schema, description: afterDescription }] : [name, schema],
          ),
        ),
      ),
      handle: async (call) => {
        const { after, ...query } = call.query;
        const handled = await endpoint.handle({
          ...call,
          oldestFirst: true,
          query: after === undefined ? query : { ...query, before: after },
        });
        return reshaped(handled, ({ body, next }) => {
          if (next === undefined) return { body };
          const { before = "", ...others } = next;
          return { body, next: { after: before, ...others } };
        });
      },
    };
  },
};

const afterDescription = "return only records with a stamp above it; absent: from the oldest on";
