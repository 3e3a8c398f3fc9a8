import { join } from "node:path";
import { SystemClock } from "../../../src/clock.ts";
import type { CentralStore } from "../../../src/store/central-store.ts";
import { openCentralStore } from "../../../src/store/sqlite/central-open.ts";
import { openGatewayStore, openStoreBeside } from "../../../src/store/sqlite/open.ts";
import type { GatewayStore, Store } from "../../../src/store/store.ts";
import { keptLog } from "../sample.ts";
import { writerOfTests } from "./writer-here.ts";

const clock = new SystemClock();

export function openGateway(directory: string): Promise<GatewayStore> {
  return openGatewayStore({ directory, clock, log: keptLog().log, ...writerOfTests() });
}

export function openCentral(directory: string): Promise<CentralStore> {
  return openCentralStore({ directory, clock, log: keptLog().log, ...writerOfTests() });
}

export function openBeside(directory: string, options: { create?: boolean } = {}): Promise<Store> {
  return openStoreBeside({ directory, clock, log: keptLog().log, ...options });
}

/** The error with which opening refuses; fails the test where it does not refuse. */
export async function refusal(opening: Promise<Store>): Promise<string> {
  const store = await opening.catch((fault: unknown) => fault);
  if (store instanceof Error) return `${store.name} ${store.message}`;
  await (store as Store).close();
  throw new Error("it opened");
}

export function databaseOf(directory: string): string {
  return join(directory, "lintel.db");
}
