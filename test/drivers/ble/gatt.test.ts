import { expect, test } from "bun:test";
import { RefusedError } from "../../../drivers/ble/simulator/attributes.ts";
import type { SimulatedPeripheralOptions } from "../../../drivers/ble/simulator/peripheral.ts";
import type { Connection, Peripheral } from "../../../drivers/peripheral.ts";
import { bthome, listening, QuickClock, recordingProduct, startRig } from "./rig.ts";

const scale = "ed:67:00:00:00:01";
const uart = "6e400001-b5a3-f393-e0a9-e50e24dcca9e";
const receive = "6e400003-b5a3-f393-e0a9-e50e24dcca9e";

/** Why a signal is raised, as soon as it is. On a busy machine a connection ends before its work gets to wait for that. */
async function raised(signal: AbortSignal): Promise<unknown> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener("abort", resolve));
  return signal.reason;
}

/** A driver at a device that it connects to as often as `wants` says, and does `work` with. */
async function connected(options: {
  work: (connection: Connection, signal: AbortSignal) => Promise<void>;
  device: Partial<SimulatedPeripheralOptions>;
  peripheral?: Partial<Peripheral>;
  times?: number;
}) {
  let left = options.times ?? 1;
  const turns: ("begun" | "done" | Error)[] = [];
  const { definition } = recordingProduct({
    peripheral: {
      wantsConnection: () => left > 0,
      connected: async (connection, signal) => {
        left -= 1;
        turns.push("begun");
        try {
          await options.work(connection, signal);
          turns.push("done");
        } catch (thrown) {
          turns.push(thrown as Error);
          throw thrown;
        }
      },
      ...options.peripheral,
    },
  });
  const rig = await startRig({ products: [definition], clock: new QuickClock(3) });
  await listening(rig);
  const device = rig.controller.addPeripheral({
    address: scale,
    advertisement: bthome(0x40),
    ...options.device,
  });
  device.advertise();
  const settled = () => rig.host.until("the end of a turn", () => turns.find((turn) => turn !== "begun"));
  return { rig, device, turns, settled };
}

test("values are read and written, short and long ones, and what is not there is not found", async () => {
  const written: Uint8Array[] = [];
  const long = Uint8Array.from({ length: 300 }, (_, at) => at);
  const found: unknown[] = [];
  const { rig, settled } = await connected({
    device: {
      services: [
        {
          uuid: "180f",
          characteristics: [{ uuid: "2a19", properties: ["read"], onRead: () => Uint8Array.of(88) }],
        },
        {
          uuid: uart,
          characteristics: [
            { uuid: receive, properties: ["read"], onRead: () => long },
            { uuid: "2a9f", properties: ["write"], onWrite: (value) => written.push(value) },
            { uuid: "2a9e", properties: ["writeWithoutResponse"], onWrite: (value) => written.push(value) },
          ],
        },
      ],
    },
    work: async (connection) => {
      const battery = await connection.characteristic("180f", "2a19");
      found.push(await battery?.read(), battery?.write_bytes_max, [...(battery?.properties ?? [])]);
      found.push(await (await connection.characteristic(uart, receive))?.read());
      await (await connection.characteristic(uart, "2a9e"))?.write(Uint8Array.of(1), { response: false });
      await (await connection.characteristic(uart, "2a9f"))?.write(Uint8Array.of(2, 3));
      found.push(
        await connection.characteristic(uart, "2a19"),
        await connection.characteristic("181d", "2a9d"),
      );
    },
  });
  await using _rig = rig;
  expect(await settled()).toBe("done");
  expect(found).toEqual([Uint8Array.of(88), 20, ["read"], long, undefined, undefined]);
  expect(written).toEqual([Uint8Array.of(1), Uint8Array.of(2, 3)]);
});

test("a larger MTU is agreed on, and used", async () => {
  const written: Uint8Array[] = [];
  let write_bytes_max = 0;
  const { rig, settled } = await connected({
    device: {
      mtu_max: 185,
      services: [
        {
          uuid: uart,
          characteristics: [{ uuid: "2a9f", properties: ["write"], onWrite: (value) => written.push(value) }],
        },
      ],
    },
    work: async (connection) => {
      const control = await connection.characteristic(uart, "2a9f");
      write_bytes_max = control?.write_bytes_max ?? 0;
      await control?.write(new Uint8Array(write_bytes_max).fill(5));
    },
  });
  await using _rig = rig;
  expect(await settled()).toBe("done");
  expect(write_bytes_max).toBe(182);
  expect(written).toEqual([new Uint8Array(182).fill(5)]);
});

test("what a device refuses is an error that says what and why", async () => {
  const refusals: string[] = [];
  const { rig, settled } = await connected({
    device: {
      services: [
        {
          uuid: "181c",
          characteristics: [
            {
              uuid: "2a9f",
              properties: ["write", "read"],
              onWrite: () => {
                throw new RefusedError(0x80);
              },
            },
          ],
        },
      ],
    },
    work: async (connection) => {
      const control = await connection.characteristic("181c", "2a9f");
      const say = (thrown: Error) => refusals.push(thrown.message);
      await control?.write(Uint8Array.of(2)).catch(say);
      await control?.read().catch(say);
      await control?.subscribe(async () => {}).catch(say);
    },
  });
  await using _rig = rig;
  expect(await settled()).toBe("done");
  expect(refusals).toEqual([
    "the writing of 2a9f was refused with ATT error 0x80",
    "the reading of 2a9f was refused with ATT error 0x02",
    `${scale} does not send changes of 2a9f`,
  ]);
});

const weighing = (onSubscribe?: (mode: string) => void) => ({
  services: [
    {
      uuid: "181d",
      characteristics: [
        {
          uuid: "2a9d",
          properties: ["indicate"] as const,
          ...(onSubscribe === undefined ? {} : { onSubscribe }),
        },
      ],
    },
  ],
});

test("an indication is confirmed only when its handler has resolved", async () => {
  const kept = Promise.withResolvers<void>();
  const order: string[] = [];
  const done = Promise.withResolvers<void>();
  let subscribed = "off";
  const { rig, device, settled } = await connected({
    device: weighing((mode) => {
      subscribed = mode;
    }),
    work: async (connection) => {
      const weight = await connection.characteristic("181d", "2a9d");
      await weight?.subscribe(async (value) => {
        order.push(`handled ${value.join()}`);
        await kept.promise;
        // Requests go on while a confirmation is held back.
        order.push(`${(await connection.characteristic("181d", "2a9c")) === undefined}`);
        order.push("kept");
      });
      await done.promise;
    },
  });
  await using _rig = rig;
  await rig.host.until("the subscription", () => subscribed === "indicate");
  const indicated = device
    .indicate("181d", "2a9d", Uint8Array.of(1, 2, 3))
    .then(() => order.push("confirmed"));
  await rig.host.until("the value", () => order.includes("handled 1,2,3"));
  // A whole exchange over the same wire: a confirmation that was on its way would have come before it.
  const passed = rig.controller.addPeripheral({ address: "00:00:00:00:00:02", advertisement: bthome(0x40) });
  expect(passed.advertise()).toBe(true);
  await rig.controller.drained();
  expect(order).toEqual(["handled 1,2,3"]);
  kept.resolve();
  await indicated;
  expect(order).toEqual(["handled 1,2,3", "true", "kept", "confirmed"]);
  done.resolve();
  expect(await settled()).toBe("done");
});

test("an indication whose handler fails is never confirmed, and the connection ends", async () => {
  let subscribed = "off";
  const { rig, device, turns, settled } = await connected({
    device: weighing((mode) => {
      subscribed = mode;
    }),
    work: async (connection, signal) => {
      const weight = await connection.characteristic("181d", "2a9d");
      await weight?.subscribe(() => Promise.reject(new Error("the disk is full")));
      throw await raised(signal);
    },
  });
  await using _rig = rig;
  await rig.host.until("the subscription", () => subscribed === "indicate");
  await expect(device.indicate("181d", "2a9d", Uint8Array.of(1))).rejects.toThrow(
    "the connection ended before the confirmation",
  );
  await settled();
  expect(turns.map(String)).toEqual(["begun", "Error: the disk is full"]);
  await rig.host.until("the line of the log", () =>
    rig.host.said(/^warn recorder ed:67:00:00:00:01: the disk is full: /),
  );
});

test("notifications come to the handler in order, one after another", async () => {
  const values: number[] = [];
  let at_once = 0;
  let most_at_once = 0;
  let subscribed = "off";
  const done = Promise.withResolvers<void>();
  const { rig, device, settled } = await connected({
    device: {
      services: [
        {
          uuid: uart,
          characteristics: [
            {
              uuid: receive,
              properties: ["notify"],
              onSubscribe: (mode) => {
                subscribed = mode;
              },
            },
          ],
        },
      ],
    },
    work: async (connection) => {
      const lines = await connection.characteristic(uart, receive);
      await lines?.subscribe(async ([value = 0]) => {
        at_once += 1;
        most_at_once = Math.max(most_at_once, at_once);
        await Promise.resolve();
        values.push(value);
        at_once -= 1;
        if (values.length === 200) done.resolve();
      });
      await done.promise;
    },
  });
  await using _rig = rig;
  await rig.host.until("the subscription", () => subscribed === "notify");
  for (let value = 0; value < 200; value += 1) device.notify(uart, receive, Uint8Array.of(value));
  expect(await settled()).toBe("done");
  expect(values).toEqual(Array.from({ length: 200 }, (_, at) => at));
  expect(most_at_once).toBe(1);
});

test("a product that is not done within its time is ended, and told so", async () => {
  const { rig, device, turns, settled } = await connected({
    device: weighing(),
    peripheral: { connection_max_ms: 2_000 },
    work: async (_connection, signal) => {
      throw await raised(signal);
    },
  });
  await using _rig = rig;
  await settled();
  expect(turns.map(String)).toEqual(["begun", "Error: not done within 2 s"]);
  await rig.host.until("the end of the connection", () => !device.connected);
});

test("a device that hangs up when it is done is no failure when its product says so", async () => {
  let subscribed = "off";
  const { rig, device, settled } = await connected({
    device: weighing((mode) => {
      subscribed = mode;
    }),
    work: async (connection, signal) => {
      await (await connection.characteristic("181d", "2a9d"))?.subscribe(async () => {});
      await raised(signal);
    },
  });
  await using _rig = rig;
  await rig.host.until("the subscription", () => subscribed === "indicate");
  device.disconnect();
  expect(await settled()).toBe("done");
  expect(rig.host.said(/^warn/)).toBeUndefined();
});
