import { SystemClock } from "../../../../src/base/clock.ts";
import { messageOf } from "../../../../src/base/errors.ts";
import { lineLog } from "../../../../src/base/log.ts";
import { upload } from "../../../../src/gateway/uploader/upload.ts";
import type { Imported } from "../../../../src/store/inventory/record-store.ts";
import { CentralClient } from "../../../../src/transfer/central-client.ts";
import type { SimulatedGateway } from "../../../../testbed/simulated-gateway.ts";
import { nightOf, nightStore } from "./home-night.ts";

/** The order to a process of gateways, as one line of JSON. */
export interface CrowdOrder {
  readonly origin: string;
  readonly homes: readonly { readonly home: number; readonly token: string }[];
}

/** How the upload of a home went. */
export interface HomeUpload {
  readonly home: number;
  readonly took_ms: number;
  readonly sent: number;
  readonly differing_days: number;
  /** How often central said «later», and how often a request failed otherwise. */
  readonly later: number;
  readonly failed: number;
  /** Bytes of the home records that were taken in. */
  readonly records_bytes: number;
  readonly fault?: string;
}

/** Gateways of many homes in one process: says `ready`, waits for a second line, uploads all at once and tells how that went. */
async function run(): Promise<void> {
  const lines = console[Symbol.asyncIterator]();
  const { origin, homes } = JSON.parse((await lines.next()).value) as CrowdOrder;
  const gateways = homes.map(({ home, token }) => ({ gateway: nightOf(home), token }));
  console.log("ready");
  await lines.next();
  const done = await Promise.all(gateways.map((one) => uploadOf({ ...one, origin })));
  console.log(JSON.stringify(done));
  process.exit();
}

async function uploadOf(options: {
  gateway: SimulatedGateway;
  token: string;
  origin: string;
}): Promise<HomeUpload> {
  const { gateway, token, origin } = options;
  const { home, last_seq } = gateway;
  const began_ms = performance.now();
  const stop = new AbortController().signal;
  let [later, failed, records_bytes] = [0, 0, 0];
  const told = () => ({ home, took_ms: performance.now() - began_ms, later, failed, records_bytes });
  try {
    const { sent, differing_days } = await upload({
      store: nightStore(gateway, clock.now().unix_ms),
      connect: () =>
        new CentralClient({
          url: origin,
          token,
          bytes_per_s: 1e9,
          clock,
          random: Math.random,
          stop,
          onRetry: (reason) => {
            if (reason.includes("answers 429")) later += 1;
            else failed += 1;
          },
        }),
      clock,
      log,
      stop,
      everyDay: false,
      describe: async () => ({
        version: "0",
        now_ms: clock.now().unix_ms,
        clock_synchronised: true,
        timezone: "Europe/Berlin",
        last_seq,
        waiting: 0,
        disk_free_bytes: 1e10,
        bytes_on_disk: 1e8,
        dropped: {},
      }),
      takeHomeRecords: async (document): Promise<Imported> => {
        records_bytes = JSON.stringify(document).length;
        return { changes: {}, clashes: [] };
      },
      homeFiles: new Map([["zigbee-backup.json", crypto.getRandomValues(new Uint8Array(file_bytes))]]),
      onProgress: () => {},
    });
    return { ...told(), sent, differing_days };
  } catch (thrown) {
    return { ...told(), sent: 0, differing_days: 0, fault: messageOf(thrown) };
  }
}

const clock = new SystemClock();
const log = lineLog({ write: (line) => void process.stderr.write(line), clock, least: "warn" });
const file_bytes = 10_000;

if (import.meta.main) await run();
