import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TransportKind } from "../../../drivers/wire/simulated-line.ts";
import { newNetwork } from "../../../drivers/zigbee/network.ts";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import { nvItem, reversed } from "../../../drivers/zigbee/simulator/nv.ts";
import { seededRandom } from "../recording-host.ts";

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
  const panId = Buffer.alloc(2);
  panId.writeUInt16LE(network.pan_id);
  coordinator.nv.set(nvItem.configured, Buffer.from([0x55]));
  coordinator.nv.set(nvItem.panId, panId);
  coordinator.nv.set(nvItem.extendedPanId, reversed(Uint8Array.from(network.extended_pan_id)));
  coordinator.nv.set(nvItem.preconfiguredKey, Buffer.from(network.network_key));
  coordinator.channels = (1 << network.channel) >>> 0;
  coordinator.form();
  return coordinator;
}
