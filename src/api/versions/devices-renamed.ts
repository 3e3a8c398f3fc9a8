import { Type } from "@sinclair/typebox";
import type { VersionChange } from "./change.ts";

/**
 * 0.4: `devices` became `items`. That is the first segment of paths. The records' fields (`itemid`, `itemname`)
 * and the type names have no older form: the history speaks of the one word.
 */
export const devicesRenamed: VersionChange = {
  version: "0.4",
  summary: "`/devices` renamed to `/items`",
  older: (endpoint) => ({
    ...endpoint,
    template: endpoint.template.replace(/^\/items(?=\/|$)/, "/devices"),
    path: Type.Object(
      Object.fromEntries(
        Object.entries(endpoint.path.properties).map(([name, schema]) => [
          name,
          { ...schema, description: schema.description?.replace("/items", "/devices") ?? "" },
        ]),
      ),
    ),
  }),
};
