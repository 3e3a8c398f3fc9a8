import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TransportKind } from "../../../drivers/wire/simulated-line.ts";
import { newNetwork } from "../../../drivers/zigbee/network.ts";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import { seededRandom } from "../../../testbed/recording-host.ts";

/**
 * A coordinator that already runs the network of which `directory` holds the identity, as after a first
 * start: a driver there resumes it at once, instead of waiting three seconds for a new one.
 */
export async function formedCoordinator(options: {
  directory: string;
  transport: TransportKind;
  seed?: number;
}): Promise<ZnpSimulator> {
  const random = seededRandom(options.seed ?? 1);
  const network = newNetwork(random);
  writeFileSync(join(options.directory, "network.json"), JSON.stringify(network));
  const link = join(options.directory, "stick");
  const coordinator = await ZnpSimulator.listen({ transport: options.transport, random, link });
  coordinator.runNetwork({
    ...network,
    extended_pan_id: Uint8Array.from(network.extended_pan_id),
    key: Uint8Array.from(network.network_key),
  });
  return coordinator;
}
