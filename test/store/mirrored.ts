import { SystemClock } from "../../src/base/clock.ts";
import type { CentralStore } from "../../src/store/central/central-store.ts";
import { health_notes_max } from "../../src/store/exchange.ts";
import type { GatewayStore } from "../../src/store/gateway/gateway-store.ts";
import type { UploadStore } from "../../src/store/gateway/upload-store.ts";
import type { ImportedRecord, RecordStore } from "../../src/store/inventory/record-store.ts";
import { openGatewayStore, openUploadStore } from "../../src/store/sqlite/open-store.ts";
import { keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import type { MakeCentral } from "./central-sample.ts";
import type { MakeStore } from "./make-store.ts";

/**
 * Stores that are written at a gateway and read at central: whatever is appended has been uploaded when `append` resolves, in batches of
 * different sizes. Imports go to central and come down. So every statement about reading must hold as at the gateway itself.
 */
export function mirrored(makeCentral: MakeCentral): MakeStore {
  return async ({ home = 12 } = {}) => {
    const central = await makeCentral();
    const directory = temporaryDirectory();
    const options = { directory: directory.path, clock: new SystemClock(), log: keptLog().log };
    const gateway = await openGatewayStore({ ...options, home, ...writerOfTests() });
    const upload = await openUploadStore(options);
    const line = new Line({ gateway, upload, central: central.store, home });
    return {
      store: await storeAcross(line, gateway, central.store),
      async [Symbol.asyncDispose]() {
        await upload.close();
        await gateway.close();
        directory[Symbol.dispose]();
        await central[Symbol.asyncDispose]();
      },
    };
  };
}

async function storeAcross(line: Line, gateway: GatewayStore, central: CentralStore): Promise<GatewayStore> {
  const written: Partial<GatewayStore> = {
    epoch: (await central.overview()).epoch,
    append: async (readings, notes) => {
      const appended = await gateway.append(readings, notes);
      await line.send();
      return appended;
    },
    importRecords: (batches, importing) => line.import(batches, importing),
  };
  return new Proxy(central, {
    get: (_, name) => {
      const own: unknown = Reflect.get(written, name);
      const value: unknown = own ?? Reflect.get(central, name, central);
      return typeof value === "function" && own === undefined ? value.bind(central) : value;
    },
  }) as CentralStore & GatewayStore;
}

/** Between a gateway and central. */
class Line {
  readonly #gateway: GatewayStore;
  readonly #upload: UploadStore;
  readonly #central: CentralStore;
  readonly #home: number;
  #batches = 0;

  constructor(ends: { gateway: GatewayStore; upload: UploadStore; central: CentralStore; home: number }) {
    this.#gateway = ends.gateway;
    this.#upload = ends.upload;
    this.#central = ends.central;
    this.#home = ends.home;
  }

  async send(): Promise<void> {
    const sender = { home: this.#home, at_ms: received_ms };
    for (const { epoch } of await this.#upload.epochs()) {
      for (;;) {
        const [held] = await this.#central.held([epoch]);
        const readings_max = sizes[this.#batches % sizes.length] ?? 1;
        const batch = await this.#upload.batchAfter({ epoch, after_seq: held?.held_seq ?? 0, readings_max });
        if (batch === undefined) break;
        this.#batches += 1;
        await this.#central.receive(batch, sender);
      }
    }
    const epoch = this.#gateway.epoch;
    const [held] = await this.#central.held([epoch]);
    const health = await this.#upload.deviceHealthAfter(held?.held_note ?? 0, health_notes_max);
    await this.#central.noteReport({ epoch, health, report: {} }, sender);
  }

  async import(...[batches, options]: Parameters<RecordStore["importRecords"]>) {
    const passed: (readonly ImportedRecord[])[] = [];
    async function* passing() {
      for await (const batch of batches) {
        passed.push(batch);
        yield batch;
      }
    }
    const imported = await this.#central.importRecords(passing(), options);
    const taken = imported.clashes.length === 0 && options?.dryRun?.() !== true;
    if (taken) await this.#gateway.importRecords(passed);
    return imported;
  }
}

/** So early that nothing is old enough to be sealed by itself. */
const received_ms = 1;
/** Readings in a batch, in turn. */
const sizes = [700, 1, 65_536, 3, 120];
