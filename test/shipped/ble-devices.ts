import type { HciSimulator } from "../../drivers/ble/simulator/controller.ts";
import { SimulatedPillBox } from "../../drivers/bthome/simulator/box.ts";
import { SimulatedScale } from "../../drivers/scale/simulator/scale.ts";

/** A standard scale near the controller, which advertises when it is told to. `composing_ms` is how long it measures; absent: it only weighs. */
export function addScale(controller: HciSimulator, { composing_ms }: { composing_ms?: number } = {}) {
  const composing = composing_ms === undefined ? { composes: false } : { composing_ms };
  const scale = new SimulatedScale({ clock_ms: Date.now, ...composing });
  const onAir = controller.addPeripheral({
    address: "c0:ff:ee:00:18:1d",
    advertisement: { services: ["181d"] },
    services: scale.services,
    onDisconnected: () => scale.disconnected(),
  });
  scale.attach(onAir);
  return { scale, onAir };
}

/** A broadcasting pill box near the controller: each door that turns is advertised. */
export function addPillBox(controller: HciSimulator): SimulatedPillBox {
  const onAir = controller.addPeripheral({ address: "54:48:e6:8f:80:a5" });
  return new SimulatedPillBox({
    address: onAir.address,
    clock_s: () => Math.floor(Date.now() / 1000),
    send: (serviceData) => {
      onAir.say({ serviceData: { fcd2: serviceData } });
      onAir.advertise();
    },
  });
}
