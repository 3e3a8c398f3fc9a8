import { loadParts } from "../config/gateway-config.ts";
import type { SettingOf } from "../store/derived/home-readings.ts";
import type { CommandContext } from "./command.ts";
import { configurationOf, type StoreOptions, storePlace } from "./store-place.ts";
import { withCentralStore } from "./with-store.ts";

/** Finds what the server of a store knows of its homes: a gateway by its configuration, central by the reports of gateways. */
export async function withSettings<Result>(
  options: StoreOptions,
  context: CommandContext,
  use: (settingOf: SettingOf) => Promise<Result>,
): Promise<Result> {
  const place = storePlace(options);
  const { storedRole } = await import("../store/sqlite/role-and-epoch.ts");
  if ("database" in place || storedRole(place.directory) === "central") {
    const { settingIn } = await import("../central/gateway-reports.ts");
    const named = "database" in place ? { database: place.database } : { data: place.directory };
    return withCentralStore(named, context, (store) => use(settingIn(store)));
  }
  const file = configurationOf(options);
  if (file === undefined) return use(async () => undefined);
  const { home, walking } = loadParts(file, "home", "walking");
  return use(async () => ({ ...home, walking }));
}
