import type { SimulatedCharacteristic, SimulatedService } from "../drivers/ble/simulator/attributes.ts";
import type { HciSimulator } from "../drivers/ble/simulator/controller.ts";
import type { SimulatedPeripheralOptions } from "../drivers/ble/simulator/peripheral.ts";
import { SimulatedPillBox } from "../drivers/bthome/simulator/box.ts";
import { SimulatedScale, xiaomiWeighing } from "../drivers/scale/simulator/scale.ts";

/** Addresses of the devices here, and of the watch that `air.ts` has beside them. */
export const deviceAddresses = {
  box: "54:48:e6:8f:80:a5",
  scale: "c0:ff:ee:00:18:1d",
  watch: "c0:ff:ee:00:00:09",
  bondedScale: "c0:ff:ee:00:b0:4d",
} as const;

/** A standard scale near the controller, which advertises when it is told to. `composing_ms` is how long it measures; absent: it only weighs. */
export function addScale(controller: HciSimulator, { composing_ms }: { composing_ms?: number } = {}) {
  const composing = composing_ms === undefined ? { composes: false } : { composing_ms };
  const scale = new SimulatedScale({ clock_ms: Date.now, ...composing });
  const onAir = controller.addPeripheral({
    address: deviceAddresses.scale,
    advertisement: { services: ["181d"] },
    services: scale.services,
    onDisconnected: () => scale.disconnected(),
  });
  scale.attach(onAir);
  return { scale, onAir };
}

/** The same services on a device that gives and takes nothing on another link. */
export function needing(
  needs: SimulatedCharacteristic["needs"] & string,
  services: readonly SimulatedService[],
): SimulatedService[] {
  return services.map(({ uuid, characteristics }) => ({
    uuid,
    characteristics: characteristics.map((one) => ({ ...one, needs })),
  }));
}

/**
 * A scale that speaks to a bonded partner alone, which it makes sure of by six digits on its display; it keeps its keys.
 * `digits` are those that it shows, while it pairs.
 */
export function addBondedScale(controller: HciSimulator) {
  const scale = new SimulatedScale({ clock_ms: Date.now, composes: false });
  const shown: { digits?: string } = {};
  const onAir = controller.addPeripheral({
    address: deviceAddresses.bondedScale,
    advertisement: { services: ["181d"] },
    services: needing("number", scale.services),
    security: {
      capability: "displayOnly",
      person: (digits = "") => {
        shown.digits = digits;
        return digits;
      },
    },
    onDisconnected: () => scale.disconnected(),
  });
  scale.attach(onAir);
  return { scale, onAir, shown };
}

/** A broadcasting pill box near the controller: each door that turns is advertised. */
export function addPillBox(controller: HciSimulator, { key }: { key?: Uint8Array } = {}): SimulatedPillBox {
  const onAir = controller.addPeripheral({ address: deviceAddresses.box });
  return new SimulatedPillBox({
    address: onAir.address,
    ...(key === undefined ? {} : { key }),
    clock_s: () => Math.floor(Date.now() / 1000),
    send: (serviceData) => {
      onAir.say({ serviceData: { fcd2: serviceData } });
      onAir.advertise();
    },
  });
}

/**
 * A device that nobody has heard before, by its number: door sensors, pill boxes, scales and watches of other people, and
 * phones. All that have something to say say it in this one advertisement.
 */
export function strangerOf(number: number): SimulatedPeripheralOptions {
  const hex = number.toString(16).padStart(8, "0").match(/../g)?.join(":");
  const address = `d0:5e:${hex}`;
  const advertisement = strangerAdvertisements[number % strangerAdvertisements.length]?.(number);
  return { address, rssi: -90, ...advertisement };
}

const strangerAdvertisements: readonly ((number: number) => Omit<SimulatedPeripheralOptions, "address">)[] = [
  ...Array.from({ length: 3 }, () => (number: number) => doorSensor(number % 2)),
  (number) =>
    broadcast({ fcd2: Uint8Array.of(0x44, 0x00, 1, 0x09, 1 << (number % 7), 0x3d, number & 0xff, 1) }),
  () =>
    broadcast({ "181b": xiaomiWeighing({ weight_g: 80_000, shown_ms: Date.now() })[2] ?? Uint8Array.of() }),
  () => ({ advertisement: { services: ["181d"], name: "Scale" }, connectable: true }),
  (number) => ({ advertisement: { name: `Bangle.js ${number.toString(16)}` }, connectable: true }),
  () => ({ advertisement: { name: "phone" }, connectable: true }),
];

/** A window sensor of BTHome that says that it is open or closed. */
function doorSensor(open: number) {
  return broadcast({ fcd2: Uint8Array.of(0x44, 0x00, 1, 0x01, 90, 0x2d, open) });
}

function broadcast(serviceData: Readonly<Record<string, Uint8Array>>) {
  return { advertisement: { serviceData } };
}
