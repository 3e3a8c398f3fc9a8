import { Type } from "@sinclair/typebox";
import type { VersionChange } from "./change.ts";

/** 0.9: `after` beside `before`. Older versions ignore the parameter as they do any that they lack. */
export const afterAdded: VersionChange = {
  version: "0.9",
  summary: "`after` beside `before` on time series",
  older: (endpoint) => {
    const { after, ...others } = endpoint.query.properties;
    return after === undefined ? endpoint : { ...endpoint, query: Type.Object(others) };
  },
};
