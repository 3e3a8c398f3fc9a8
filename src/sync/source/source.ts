import type { App } from "../../http/app.ts";
import type { HomeFiles } from "../kept-files.ts";
import type { GatewayReport } from "../protocol.ts";
import { type Route, syncApp } from "../route.ts";
import type { SourceStore } from "../transfer/store-source.ts";

/**
 * The gateway's side of sync where central comes to it: the same report, batches, digests and days that an upload sends, read-only.
 *
 * @param options.describe what the gateway says of itself now
 */
export function sourceApp(options: {
  /** Opens the store that is read, or answers the one it opened before. */
  store: () => Promise<SourceStore>;
  describe: () => Promise<GatewayReport>;
  /** Files that a spare gateway would need besides readings and records, by name. */
  homeFiles: () => Promise<HomeFiles>;
  /** The home that the gateway is in, where that is known: a token of another home opens nothing here. */
  home: number | undefined;
}): App {
  const { home, describe, homeFiles } = options;
  const rows: readonly [path: string, answer: Route["answer"]][] = [
    [
      "/report",
      async (call) => (await answers()).report(call, { store: await options.store(), describe, home }),
    ],
    ["/batches", async (call) => (await answers()).batches(call, await options.store())],
    ["/digests", async (call) => (await answers()).digests(call, await options.store())],
    ["/days", async (call) => (await answers()).days(call, await options.store())],
    ["/backups", async (call) => (await answers()).backups(call, await homeFiles())],
  ];
  return syncApp(
    rows.map(([path, answer]) => ({
      method: "GET",
      path,
      scopes: ["sync", "admin"],
      ...(home === undefined ? {} : { home }),
      answer,
    })),
  );
}

/** Loaded when central first comes: with the codec of batches they take 3 MB, and most gateways send. */
const answers = () => import("./answers.ts");
