import type { Clock } from "../../clock.ts";
import type { App } from "../../http/app.ts";
import type { CentralStore } from "../../store/central-store.ts";
import { type Route, syncApp } from "../route.ts";
import { backupsRoute, keepBackupsRoute } from "./backups.ts";
import { batchesRoute } from "./batches.ts";
import { fleetRoute } from "./fleet.ts";
import { historyRoute } from "./history.ts";
import { homeRoute } from "./home-route.ts";
import { Reception, type ReceptionBounds } from "./reception.ts";
import { Receptions } from "./receptions.ts";
import { reportRoute } from "./reports.ts";
import { rosterRoute } from "./roster.ts";
import { daysRoute, verifyRoute } from "./verification.ts";

/** Central's side of sync. */
export interface Receiver {
  readonly app: App;
  readonly routes: readonly Route[];
  readonly counts: Receptions;
  readonly reception: Reception;
}

/**
 * Central's routes for the gateways of all homes; a gateway reads and writes only its own home.
 *
 * @param options.version of this program, told to gateways
 */
export function receiverOf(
  options: { store: CentralStore; clock: Clock; version: string } & Partial<ReceptionBounds>,
): Receiver {
  const { store, version, ...rest } = options;
  const counts = new Receptions();
  const reception = new Reception(rest);
  const ofHomes = [
    reportRoute(store, version),
    batchesRoute(store, counts),
    verifyRoute(store),
    daysRoute(store, counts),
    rosterRoute(store),
    keepBackupsRoute(store),
    backupsRoute(store),
    historyRoute(store),
  ];
  const routes: Route[] = [
    ...ofHomes.map((route) => homeRoute(route, { reception, clock: options.clock })),
    fleetRoute(store),
  ];
  return { app: syncApp(routes), routes, counts, reception };
}
