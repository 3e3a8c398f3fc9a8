import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { BleDriver } from "../../../drivers/ble/driver.ts";
import type { SimulatedCharacteristic } from "../../../drivers/ble/simulator/attributes.ts";
import type { SimulatedSecurityOptions } from "../../../drivers/ble/simulator/security.ts";
import type { PairingPerson } from "../../../drivers/driver.ts";
import { bthome, listening, QuickClock, type Rig, recordingProduct, startRig } from "./rig.ts";

export const address = "ed:67:00:00:00:01";
const value = Uint8Array.of(7, 7);

/** A device that gives its value to a bonded partner alone, a driver at it, and what became of each connection. */
export async function startBonded(options: {
  security?: SimulatedSecurityOptions;
  needs?: SimulatedCharacteristic["needs"];
  addressType?: "public" | "random";
}) {
  const { security = {}, needs = "encryption", addressType = "random" } = options;
  const turns: (Uint8Array | Error)[] = [];
  const heard: string[] = [];
  let wanted = 0;
  const { definition } = recordingProduct({
    peripheral: {
      advertised: ({ address: from }) => void heard.push(from),
      wantsConnection: () => wanted > 0,
      connected: async (connection) => {
        wanted -= 1;
        const found = await connection.characteristic("181d", "2a9d");
        turns.push((await found?.read()) ?? new Error("nothing there"));
      },
    },
  });
  const rig = await startRig({ products: [definition], clock: new QuickClock(8) });
  let driver = rig.driver;
  await listening(rig);
  const device = rig.controller.addPeripheral({
    address,
    addressType,
    advertisement: bthome(0x40),
    security,
    services: [
      { uuid: "181d", characteristics: [{ uuid: "2a9d", properties: ["read"], needs, onRead: () => value }] },
    ],
  });
  // A busy machine may miss a connection, which is tried again.
  const lines = () =>
    rig.host.lines.filter((line) => line.startsWith("warn") && !line.includes("no connection within"));
  const warnings = () => lines().length;
  const advertise = () => {
    if (wanted > 0 && !device.connected) device.advertise();
  };
  return {
    rig,
    device,
    heard,
    security: device.security as NonNullable<typeof device.security>,
    openJoining: (person?: Partial<PairingPerson>) =>
      driver.openJoining(60, person === undefined ? undefined : { ...nobody, ...person }),
    closeJoining: () => driver.closeJoining(),
    /** Has the device advertise until pairings with it have failed so often, and been said. */
    async failures(count: number) {
      wanted = Number.POSITIVE_INFINITY;
      const failed = await rig.host.until(
        `${count} failures`,
        () => {
          // Nor does a pairing count that ended because the driver took a busy machine's adapter for silent.
          const all = rig.host.joins
            .filter((join) => join.state === "failed")
            .filter(({ reason }) => reason !== "the driver stops");
          return !device.connected && warnings() > 0 && all.length >= count && all;
        },
        advertise,
      );
      wanted = 0;
      return failed;
    },
    /** Has the device advertise until it has given its value, however often it fails before. */
    async recovers() {
      const before = turns.length;
      wanted = Number.POSITIVE_INFINITY;
      const ended = await rig.host.until("the value", () => turns[before], advertise);
      wanted = 0;
      return ended;
    },
    /** Has the device advertise until the turn has ended: with its value, or with the line that says why not. */
    async connect(): Promise<Uint8Array | string> {
      const before = { turns: turns.length, warnings: warnings() };
      wanted = 1;
      const ended = await rig.host.until(
        "the end of a turn",
        () => {
          if (device.connected) return undefined;
          return turns[before.turns] ?? (warnings() > before.warnings && lines().at(-1));
        },
        advertise,
      );
      wanted = 0;
      if (ended instanceof Error) throw ended;
      return ended;
    },
    /** The program starts anew on the same disk, as after a power cut. */
    async restart(): Promise<void> {
      await driver.stop();
      driver = new BleDriver({
        config: { port: rig.controller.path },
        host: rig.host,
        products: [definition],
        bounds: { least_ms: 20, most_ms: 200 },
      });
      driver.start();
      await listening({ ...rig, driver });
    },
    bonds: () => bondsOf(rig),
    [Symbol.asyncDispose]: async () => {
      await driver.stop();
      await rig[Symbol.asyncDispose]();
    },
  };
}

/** The bonds on the disk, and the rights of their file; undefined where there is none. */
function bondsOf({ host }: Rig) {
  const file = join(host.directory, "bonds.json");
  try {
    const { bonds } = JSON.parse(readFileSync(file, "utf8"));
    return { bonds, mode: statSync(file).mode & 0o777 };
  } catch {
    return undefined;
  }
}

const nobody: PairingPerson = {
  types: true,
  reads: () => {},
  typesNumber: async () => undefined,
  compares: async () => false,
};
