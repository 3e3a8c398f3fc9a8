import { Elysia } from "elysia";
import { bodyOfFiles, type HomeFiles } from "../transfer/kept-files.ts";
import {
  BatchQuery,
  DayQuery,
  DigestQuery,
  type GatewayReport,
  ReportQuery,
  syncPath,
} from "../transfer/protocol.ts";
import { jsonAnswers } from "../transfer/sync-answers.ts";
import type { SourceStore } from "../transfer/transfer-ends.ts";
import { type App, authorised, costing } from "../web/server/elysia-app.ts";
import { queryReader } from "../web/server/parameters.ts";

/**
 * The gateway's side of sync where central comes to it: the same report, batches, digests and days that an upload sends, read-only.
 *
 * @param options.store opens the store that is read, or answers the one it opened before
 * @param options.describe what the gateway says of itself now
 * @param options.homeFiles files that a spare gateway would need besides readings and records, by name
 * @param options.home the home that the gateway is in, where that is known: a token of another home opens nothing here
 */
export function sourceApp(options: {
  store: () => Promise<SourceStore>;
  describe: () => Promise<GatewayReport>;
  homeFiles: () => Promise<HomeFiles>;
  home: number | undefined;
}): App {
  const { home, describe, homeFiles } = options;
  return {
    name: "sync",
    prefix: `${syncPath}/`,
    routes: (context) =>
      new Elysia({ prefix: syncPath })
        .use(jsonAnswers)
        .use(authorised(["sync", "admin"], context))
        .derive(({ token }) => {
          if (home !== undefined) context.authorization.requireHome(token, home);
          return {};
        })
        .get(
          "/report",
          (call) =>
            costing("batch", context, call, async () =>
              (await answers()).report(call.query, { store: await options.store(), describe, home }),
            ),
          { query: queryReader(ReportQuery) },
        )
        .get(
          "/batches",
          (call) =>
            costing("batch", context, call, async () =>
              (await answers()).batches(call.query, await options.store()),
            ),
          {
            query: queryReader(BatchQuery),
          },
        )
        .get(
          "/digests",
          (call) =>
            costing("batch", context, call, async () =>
              (await answers()).digests(call.query, await options.store()),
            ),
          {
            query: queryReader(DigestQuery),
          },
        )
        .get(
          "/days",
          (call) =>
            costing("batch", context, call, async () =>
              (await answers()).days(call.query, await options.store()),
            ),
          {
            query: queryReader(DayQuery),
          },
        )
        .get("/backups", (call) =>
          costing("batch", context, call, async () => bodyOfFiles(await homeFiles())),
        ),
  };
}

/** Loaded when central first comes: with the codec of batches they take 3 MB, and most gateways send. */
const answers = () => import("./pulled-answers.ts");
