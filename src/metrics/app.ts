import { Elysia } from "elysia";
import { type App, authorised, costing } from "../http/app.ts";
import { type Family, openMetricsText, openMetricsType } from "./openmetrics.ts";

/** Serves metrics at `/metrics`, to holders of read or admin tokens. `collect` is asked each time. */
export function metricsApp(collect: () => Promise<readonly Family[]>): App {
  return {
    name: "metrics",
    prefix: path,
    routes: (context) =>
      new Elysia().use(authorised(["read", "admin"], context)).get(path, (call) =>
        costing(
          "light",
          context,
          call,
          async () =>
            new Response(openMetricsText(await collect()), {
              headers: { "Content-Type": openMetricsType, "Cache-Control": "no-store" },
            }),
        ),
      ),
  };
}

const path = "/metrics";
