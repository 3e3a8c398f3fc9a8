import { Type } from "@sinclair/typebox";
import type { VersionChange } from "./change.ts";

/** 0.9: `precision=ms`. Older versions serve seconds, and ignore the parameter as they do any that they lack. */
export const precisionAdded: VersionChange = {
  version: "0.9",
  summary: "`precision=ms` on time series",
  older: (endpoint) => {
    const { precision, ...others } = endpoint.query.properties;
    if (precision === undefined) return endpoint;
    return {
      ...endpoint,
      query: Type.Object(others),
      handle: (call) => endpoint.handle({ ...call, query: { ...call.query, precision: "s" } }),
    };
  },
};
