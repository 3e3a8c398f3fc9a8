import { type TArray, type TObject, Type } from "@sinclair/typebox";
import { Provenance } from "../../provenance.ts";
import { named, type VersionChange } from "./change.ts";

/** 0.9: `since`, and `provenance` with it. Older versions ignore the parameters as they do any that they lack. */
export const sinceAdded: VersionChange = {
  version: "0.9",
  summary: "`since` on time series",
  older: (endpoint) => {
    const { since, provenance: _, ...others } = endpoint.query.properties;
    if (since === undefined) return endpoint;
    const ofSince: readonly string[] = ["cursor_gone", "parameters_exclusive"];
    const { properties, ...options } = (endpoint.response as TArray<TObject>).items;
    const added = ["epoch", "number", ...Object.keys(Provenance.properties)];
    return {
      ...endpoint,
      query: Type.Object(others),
      response: Type.Array(Type.Omit(Type.Object(properties), added, named(options))),
      refusals: endpoint.refusals.filter((name) => !ofSince.includes(name)),
    };
  },
};
