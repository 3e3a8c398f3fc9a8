import { Type } from "@sinclair/typebox";
import { clockQuality, type Moment } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import type { Host } from "../driver.ts";
import {
  type Advertisement,
  type Characteristic,
  type Connection,
  devices_max,
  type Peripheral,
  type PeripheralDefinition,
} from "../peripheral.ts";
import { HealthFetch } from "./fetch.ts";
import { products, stride_default_m } from "./readings.ts";

/** Nordic UART: the service, the characteristic for writes to the watch, and the one that it sends from. */
const uart = {
  service: "6e400001-b5a3-f393-e0a9-e50e24dcca9e",
  write: "6e400002-b5a3-f393-e0a9-e50e24dcca9e",
  notify: "6e400003-b5a3-f393-e0a9-e50e24dcca9e",
} as const;

const section = Type.Object(
  {
    stride_m: Type.Optional(
      Type.Number({ minimum: 0.1, maximum: 2, description: "metres a step, 0.7 unless said" }),
    ),
  },
  { additionalProperties: false },
);

/** A Bangle.js watch over Bluetooth, told by its name: other things have a Nordic UART as well. */
export const watchPeripheral: PeripheralDefinition<typeof section> = {
  name: "watch",
  section,
  kind: "watches",
  products,
  recognises: ({ name }) => /^bangle\.js\b/i.test(name ?? ""),
  deviceOf: ({ address }) => deviceAt(address),
  create: ({ config, host }) => new WatchPeripheral({ host, stride_m: config.stride_m ?? stride_default_m }),
};

/** An open connection costs the watch's battery, and six blocks an hour are few. */
export const fetch_interval_ms = 3600_000;

class WatchPeripheral implements Peripheral {
  /** Months of backlog take minutes. */
  readonly connection_max_ms = 600_000;
  readonly #host: Host;
  readonly #stride_m: number;
  /** When each watch was last read to its end, on the monotonic clock. */
  readonly #read_ms = new Map<string, number>();

  constructor(options: { host: Host; stride_m: number }) {
    this.#host = options.host;
    this.#stride_m = options.stride_m;
  }

  advertised({ address }: Advertisement, moment: Moment): void {
    this.#host.heard({ device: deviceAt(address), heard_ms: moment.unix_ms });
  }

  wantsConnection({ address }: Advertisement, moment: Moment): boolean {
    // Without the time neither can the watch be set nor its log be dated: it keeps it.
    if (moment.quality === clockQuality.unsynchronised) return false;
    const read_ms = this.#read_ms.get(address);
    return read_ms === undefined || moment.monotonic_ms - read_ms >= fetch_interval_ms;
  }

  async connected(connection: Connection, signal: AbortSignal): Promise<void> {
    const write = await connection.characteristic(uart.service, uart.write);
    const notify = await connection.characteristic(uart.service, uart.notify);
    if (write === undefined || notify === undefined) {
      throw new OperatorError(
        `watch ${connection.address} has no Nordic UART`,
        "turn on Bluetooth and programmable in the watch's settings",
      );
    }
    const fetch = new HealthFetch({
      host: this.#host,
      device: deviceAt(connection.address),
      stride_m: this.#stride_m,
      send: (text) => writeInPieces(write, text),
    });
    await notify.subscribe(async (value, moment) => fetch.receive(value, moment));
    await fetch.run(signal);
    if (this.#read_ms.size >= devices_max) this.#read_ms.clear();
    this.#read_ms.set(connection.address, this.#host.clock.now().monotonic_ms);
  }
}

function deviceAt(address: string) {
  return { kind: "watches", address, model: "Bangle.js", vendor: "Espruino" } as const;
}

async function writeInPieces(characteristic: Characteristic, text: string): Promise<void> {
  const bytes = new TextEncoder().encode(text);
  const { write_bytes_max } = characteristic;
  for (let from = 0; from < bytes.length; from += write_bytes_max) {
    await characteristic.write(bytes.subarray(from, from + write_bytes_max), { response: true });
  }
}
