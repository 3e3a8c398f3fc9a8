import { below, seeded, sensor, start_ms } from "../../../testbed/sample.ts";
import { SimulatedGateway } from "../../../testbed/simulated-gateway.ts";

/** Two homes and what they have to upload, the same at every call. */
export function night(): SimulatedGateway[] {
  const random = seeded(3);
  return [1, 2].map((home) => {
    const gateway = new SimulatedGateway(home, `night of home ${home}`);
    for (let count = 0; count < 20_000; count += 1) {
      gateway.add({
        device: sensor(home * 10 + below(random, 3)),
        series: "wirelesssensor_events",
        stamp_ms: start_ms + count * 1_000 + below(random, 5_000),
        fields: [count],
      });
    }
    return gateway;
  });
}
