import type { CentralStore } from "../central-store.ts";
import { centralStoreOn } from "../core/central-store.ts";
import { openBeside, ownWriter } from "./open.ts";
import { checkRole } from "./role.ts";
import { type OpenOptions, partsOf, type ServeOptions, serveStore } from "./serve.ts";

/** Opens the store of central, as the only server on its directory: see `serve`. */
export function openCentralStore(options: ServeOptions): Promise<CentralStore> {
  return serveStore(options, { role: "central" }, (parts) => centralStoreOn({ ...parts, log: options.log }));
}

/** Opens central's store for a command that reads, whether or not the server runs on it. Throws as `openStoreBeside` does. */
export function openCentralBeside(options: OpenOptions): Promise<CentralStore> {
  return openBeside(options, async (path) => {
    checkRole(path, options.directory, "central");
    return centralStoreOn({ ...(await partsOf(path, ownWriter(path))), log: options.log });
  });
}
