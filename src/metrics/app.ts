import type { App } from "../http/app.ts";
import { bearerIn } from "../http/authorization.ts";
import { HttpError } from "../http/errors.ts";
import { type Family, openMetricsText, openMetricsType } from "./openmetrics.ts";

/** Serves metrics at `/metrics`, to holders of read or admin tokens. `collect` is asked each time. */
export function metricsApp(collect: () => Promise<readonly Family[]>): App {
  return {
    name: "metrics",
    build: ({ authorization }) => ({
      takes: (path) => path === metricsPath,
      respond: async ({ method, authorization: header, address }) => {
        if (method !== "GET" && method !== "HEAD")
          throw new HttpError("method_unsuitable", { methods: "GET or HEAD" }, { Allow: "GET, HEAD" });
        await authorization.require({ authorization: header, bearer: bearerIn(header), address }, [
          "read",
          "admin",
        ]);
        return new Response(openMetricsText(await collect()), {
          headers: { "Content-Type": openMetricsType, "Cache-Control": "no-store" },
        });
      },
    }),
  };
}

const metricsPath = "/metrics";
