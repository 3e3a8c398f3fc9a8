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
import { access, checkedOf } from "../web/server/elysia-app.ts";
import { HttpError } from "../web/server/http-errors.ts";
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
}) {
  const { home, describe, homeFiles } = options;
  return new Elysia({ name: "sync", prefix: syncPath })
    .use(jsonAnswers)
    .use(access)
    .guard({ auth: ["sync", "admin"], cost: "batch" })
    .derive(async ({ authorization, request }) => {
      const { token } = checkedOf(request);
      if (home !== undefined) authorization.requireHome(token, home);
      const isShown = token.restricted || (await (await options.store()).unrestricted()) === undefined;
      if (!isShown) throw new HttpError("home_restricted", { home: home ?? "of this gateway" });
      return {};
    })
    .get(
      "/report",
      ({ spend, query }) =>
        spend(async () => (await answers()).report(query, { store: await options.store(), describe, home })),
      {
        query: queryReader(ReportQuery),
        detail: { summary: "What the gateway says of itself, and its notes after a number" },
      },
    )
    .get(
      "/batches",
      ({ spend, query }) => spend(async () => (await answers()).batches(query, await options.store())),
      {
        query: queryReader(BatchQuery),
        detail: { summary: "The batch of readings after a number; 204 where there is none" },
      },
    )
    .get(
      "/digests",
      ({ spend, query }) => spend(async () => (await answers()).digests(query, await options.store())),
      { query: queryReader(DigestQuery), detail: { summary: "Digests of a day at most" } },
    )
    .get(
      "/days",
      ({ spend, query }) => spend(async () => (await answers()).days(query, await options.store())),
      { query: queryReader(DayQuery), detail: { summary: "Readings of a day, as a batch" } },
    )
    .get("/backups", ({ spend }) => spend(async () => bodyOfFiles(await homeFiles())), {
      detail: { summary: "Files that a spare gateway needs besides readings and records" },
    });
}

/** Loaded when central first comes: with the codec of batches they take 3 MB, and most gateways send. */
const answers = () => import("./pulled-answers.ts");
