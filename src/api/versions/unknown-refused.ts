import { Type } from "@sinclair/typebox";
import type { VersionChange } from "./change.ts";

/** 0.9: a parameter that an endpoint does not know is refused. Older versions ignore it. */
export const unknownRefused: VersionChange = {
  version: "0.9",
  summary: "unknown parameters refused with 422",
  older: (endpoint) => ({ ...endpoint, query: Type.Object(endpoint.query.properties) }),
};
