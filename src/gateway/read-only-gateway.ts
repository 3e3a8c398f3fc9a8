import { type Clock, repeat } from "../base/clock.ts";
import { onReadOnlyDisk } from "../base/disk/disk-fault.ts";
import { messageOf, OperatorError } from "../base/errors.ts";
import type { Log } from "../base/log.ts";
import type { Config } from "../config/gateway-config.ts";
import { openStoreBeside } from "../store/sqlite/open-store.ts";
import { apiApp, apiUrl, referencePath } from "../web/api/api-routes.ts";
import { docsApp } from "../web/docs/docs-app.ts";
import { dashboardApp } from "../web/pages/page-routes.ts";
import { startServer } from "../web/server/http-server.ts";
import { pagesOf, settingOf } from "./gateway.ts";
import { keepingOf, tlsOf } from "./serving-settings.ts";

/**
 * A gateway on a read-only disk: it serves the data it has, and records nothing. No driver starts, because a device
 * would delete readings that it has handed over and that cannot be stored. `onWritable` is called once the disk can be
 * written again: then stop, and start as a normal gateway. Throws an OperatorError where there is no data to serve.
 */
export async function startReadOnlyGateway(options: {
  config: Config;
  clock: Clock;
  log: Log;
  onWritable: (fault: OperatorError) => void;
}): Promise<{ url: string; dashboard: string; alive(): Promise<void>; stop(): Promise<void> }> {
  const { config, clock, log, onWritable } = options;
  const store = await openStoreBeside({ directory: config.data, clock, log: log.named("store") });
  try {
    const { hostname, port, realm } = config.api;
    const tls = await tlsOf(config, clock, log);
    const server = await startServer({
      // When tokens were used cannot be kept.
      store: {
        token: (id) => store.token(id),
        noteTokenUse: async () => {},
        // What cannot be noted is not shown: this is refused.
        noteInJournal: (entry) => store.noteInJournal(entry),
      },
      clock,
      log,
      listen: { hostname, port },
      realm,
      tls,
      apps: [
        apiApp({ store, settingOf: settingOf(config) }),
        dashboardApp({ ...pagesOf(config, store), keepingOf: async () => keepingOf(config) }),
        docsApp(referencePath),
      ],
    });
    const cancel = repeat(
      clock,
      look_interval_ms,
      () => {
        if (onReadOnlyDisk(config.data)) return undefined;
        log.warn("the disk takes changes again: ending, to be started as a whole gateway");
        onWritable(new OperatorError("the disk takes changes again", "start Lintel again"));
        return "stop";
      },
      0,
    );
    const url = apiUrl(server);
    return {
      url,
      dashboard: new URL("/", url).href,
      alive: () =>
        store.itemTypes().then(
          () => undefined,
          (thrown) => log.debug(messageOf(thrown)),
        ),
      stop: async () => {
        cancel();
        await server.stop();
        await store.close();
      },
    };
  } catch (thrown) {
    await store.close();
    throw thrown;
  }
}

/** How soon a disk that takes changes again is noticed. */
const look_interval_ms = 5_000;
