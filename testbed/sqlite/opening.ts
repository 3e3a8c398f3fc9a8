import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import { openCentralStore } from "../../src/store/sqlite/open-central.ts";
import { openGatewayStore, openStoreBeside } from "../../src/store/sqlite/open-store.ts";
import type { Store } from "../../src/store/store.ts";
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
