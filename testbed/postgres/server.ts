import { GivenServer, givenUrl } from "./given-server.ts";
import { ownServer } from "./own-server.ts";
import type { TestServer } from "./test-server.ts";

/**
 * The PostgreSQL that tests have their databases on: the server that `LINTEL_TEST_POSTGRES` names, by the URL of its maintenance database with
 * a superuser; where nothing is named one of this process.
 */
export function postgresServer(): Promise<TestServer> {
  return givenUrl === undefined ? ownServer() : givenServer();
}

/** The cluster that `LINTEL_TEST_POSTGRES` names. Only tests that `noCluster` does not skip may ask for it. */
export async function cluster(): Promise<GivenServer> {
  const server = await givenServer();
  if (!server.isCluster) throw new Error("the server of LINTEL_TEST_POSTGRES has no Citus with workers");
  return server;
}

function givenServer(): Promise<GivenServer> {
  given ??= GivenServer.at(givenUrl ?? "");
  return given;
}

let given: Promise<GivenServer> | undefined;

/** Why tests that stop the server or fill its disk are skipped, to append to their names; empty where they are not. */
export const notOurs =
  givenUrl === undefined ? "" : " (skipped: LINTEL_TEST_POSTGRES names a server that tests may not stop)";

/** Why tests of what only a cluster has are skipped, to append to their names; empty where they are not. */
export const noCluster = await withoutCluster();

async function withoutCluster(): Promise<string> {
  if (givenUrl === undefined) return " (skipped: LINTEL_TEST_POSTGRES names no server that has Citus)";
  if ((await givenServer()).isCluster) return "";
  return " (skipped: the server of LINTEL_TEST_POSTGRES has no Citus with workers)";
}
