import { Type } from "@sinclair/typebox";
import type { Change } from "./change.ts";

/** 0.9: `since`. Older versions ignore the parameter as they do any that they lack. */
export const sinceAdded: Change = {
  version: "0.9",
  summary: "`since` on time series",
  older: (endpoint) => {
    const { since, ...others } = endpoint.query.properties;
    if (since === undefined) return endpoint;
    const ofSince: readonly string[] = ["cursor_gone", "parameters_exclusive"];
    return {
      ...endpoint,
      query: Type.Object(others),
      refusals: endpoint.refusals.filter((name) => !ofSince.includes(name)),
    };
  },
};
