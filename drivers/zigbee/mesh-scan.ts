import type { Controller, Models } from "zigbee-herdsman";
import { messageOf } from "../../src/base/errors.ts";
import { type MeshScan, mesh_links_max, mesh_nodes_max } from "../../src/domain/mesh.ts";
import type { Host } from "../driver.ts";
import type { Radio } from "./radio.ts";
import { addressOf, modelOf } from "./sensors.ts";

/** Zigbee specification 2.4: profile of the device objects, cluster of Mgmt_Lqi_req. */
const zdoProfile = 0x0000;
const neighboursRequest = 0x0031;
/** Numbers of the specification in a neighbour's entry: what it is to the device that names it. */
const childRelation = 1;
/** Pages of a table of neighbours: with two or three on each, a large stick has about thirty. Some devices send the same page for ever. */
const pages_max = 40;

/** One entry of a table of neighbours, as zigbee-herdsman decodes it. */
interface Neighbour {
  readonly eui64: string;
  readonly nwkAddress: number;
  readonly relationship: number;
  readonly lqi: number;
}

/** The answer to a request for a page: a status, and the page where that is 0. */
type Page = readonly [
  status: number,
  page?: { readonly neighborTableEntries: number; readonly entryList: readonly Neighbour[] },
];

/**
 * Asks the stick and every router which devices it hears, and how well. Sleepers are not asked: they have no table, and it would cost their batteries. One request is on
 * its way at a time, so that readings go first.
 */
export async function scanMesh({ controller, channel }: Radio, { clock, log }: Host): Promise<MeshScan> {
  const devices = [...controller.getDevicesIterator()].slice(0, mesh_nodes_max);
  const known = new Set(devices.map(({ ieeeAddr }) => ieeeAddr));
  const stick = devices.find(({ type }) => type === "Coordinator")?.ieeeAddr ?? "";
  const nodes: MeshScan["nodes"] = [];
  const links: MeshScan["links"] = [];
  for (const device of devices) {
    const role = device.type === "Coordinator" ? "stick" : device.type === "Router" ? "router" : "sleeper";
    const model = modelOf(device).slice(0, 80);
    const node = { address: addressOf(device.ieeeAddr), role, ...(model === "" ? {} : { model }) } as const;
    if (role === "sleeper") {
      nodes.push(node);
      continue;
    }
    const { answered, neighbours } = await neighboursOf(controller, device, log);
    nodes.push({ ...node, answered });
    for (const { eui64, nwkAddress, relationship, lqi } of neighbours) {
      const of = nwkAddress === 0 ? stick : eui64;
      if (!known.has(of) || of === device.ieeeAddr) continue;
      const child = relationship === childRelation;
      links.push({ by: node.address, of: addressOf(of), quality: lqi, ...(child ? { child } : {}) });
    }
  }
  return { at_ms: clock.now().unix_ms, nodes, channel, links: links.slice(0, mesh_links_max) };
}

/** The table of neighbours of a device, page by page; as far as it came. */
async function neighboursOf(
  controller: Controller,
  device: Models.Device,
  log: Host["log"],
): Promise<{ answered: boolean; neighbours: readonly Neighbour[] }> {
  const neighbours = new Map<string, Neighbour>();
  let first = 0;
  for (let pages = 0; pages < pages_max; pages += 1) {
    let page: Page[1];
    try {
      const [status, told] = (await controller.sendRaw({
        ieeeAddress: device.ieeeAddr,
        networkAddress: device.networkAddress,
        profileId: zdoProfile,
        clusterKey: neighboursRequest,
        zdoParams: [first],
      })) as unknown as Page;
      if (status !== 0) log.debug(`${device.ieeeAddr} does not name its neighbours (status ${status})`);
      page = status === 0 ? told : undefined;
    } catch (thrown) {
      log.debug(`${device.ieeeAddr} does not name its neighbours: ${messageOf(thrown)}`);
      page = undefined;
    }
    if (page === undefined) return { answered: pages > 0, neighbours: [...neighbours.values()] };
    const before = neighbours.size;
    for (const neighbour of page.entryList) neighbours.set(neighbour.eui64, neighbour);
    first += page.entryList.length;
    // A page that brings none that is new is the last one, or comes from a device that repeats itself.
    if (neighbours.size === before || first >= page.neighborTableEntries) break;
  }
  return { answered: true, neighbours: [...neighbours.values()] };
}
