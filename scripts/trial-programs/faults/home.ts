import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SimulatedBox } from "../../../drivers/pillbox/simulator/box.ts";
import { BridgeSimulator } from "../../../drivers/pillbox/simulator/bridge.ts";
import { ZnpSimulator } from "../../../drivers/zigbee/simulator/coordinator.ts";
import type { SimulatorExport } from "../../../drivers/zigbee/simulator/stick.ts";
import { eventually } from "../../../testbed/front-door.ts";
import { StickHome } from "../../benchmarks/stick/home.ts";

const box_mac = "c0:ff:ee:00:00:01";
export const door_item = `pillbox-${box_mac.replaceAll(":", "")}`;
/** Events that the box had before a trial, and those that it has more in one. */
export const doors_before = 200;
export const doors_more = 20;

/** A home that was set up once: its data directory with a Zigbee network and a sensor in it, and the first events of a pill box. Trials begin with copies of it. */
export class HomeBefore {
  private constructor(
    readonly directory: string,
    readonly stick: SimulatorExport,
    readonly token: string,
    readonly sensor_item: string,
    readonly began_ms: number,
  ) {}

  /** @param options.doors how many events of the box there are, so long apart up to now; the states of its doors are their numbers, modulo 128 */
  static async make({ doors = doors_before, apart_ms = 60_000 } = {}): Promise<HomeBefore> {
    const home = await StickHome.start(1);
    const [sensor] = home.sensors;
    if (sensor === undefined) throw new Error("no sensor");
    const began_ms = Date.now() - (doors + doors_more + 1) * apart_ms;
    const directory = mkdtempSync(join(tmpdir(), "lintel-home-"));
    const bridge = await bridgeWith(doors, { began_ms, apart_ms });
    try {
      await home.gateway.stop();
      home.site.configure({ sections: sectionsFor(home.stick, bridge) });
      const gateway = await home.site.run();
      const isRead = async () => (await counted(home.site.data)).doors === doors || undefined;
      await eventually(isRead, "the box is read");
      await gateway.stop();
      cpSync(home.site.data, directory, { recursive: true });
      return new HomeBefore(directory, home.stick.export(), home.token, home.nameOf(sensor), began_ms);
    } finally {
      await bridge.close();
      await home.stick.close();
      await home.site.remove();
    }
  }

  /** The stick and the box's bridge of one trial, on ptys: the box has more events than were read. */
  async devices(
    doors = doors_before + doors_more,
  ): Promise<{ stick: ZnpSimulator; bridge: BridgeSimulator }> {
    const stick = await ZnpSimulator.listen({ transport: "pty", random: randomBytes, saved: this.stick });
    return { stick, bridge: await bridgeWith(doors, { began_ms: this.began_ms }) };
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** How many readings the gateway says that it has on disk. Nothing is written for the question, as it would be by a token. */
export async function counted(data: string): Promise<{ doors: number; events: number }> {
  const answer = await fetch("http://gateway/status", { unix: join(data, "control.sock") });
  const status = (await answer.json()) as {
    store: { items: { series: { series: string; count: number }[] }[] };
  };
  const of = (name: string) =>
    status.store.items
      .flatMap(({ series }) => series)
      .reduce((sum, { series, count }) => sum + (series === name ? count : 0), 0);
  return { doors: of("pillbox_events"), events: of("wirelesssensor_events") };
}

/** The sections of a configuration with both devices. */
export function sectionsFor(stick: ZnpSimulator, bridge: BridgeSimulator): string {
  return `[home]\nid = 12\n[zigbee]\nport = "${stick.path}"\nadapter = "zstack"\n[pillbox]\nport = "${bridge.path}"`;
}

/** The states of the doors that a server has, the oldest first. */
export async function doorsServed(url: string, token: string): Promise<number[]> {
  return served(`${url}/items/pillboxes/${door_item}/events?limit=1000`, token);
}

/** The events of a page, the oldest first; none where it cannot be had. */
export async function served(url: string, token: string): Promise<number[]> {
  const headers = { authorization: `bearer ${token}`, accept: "application/json" };
  const signal = AbortSignal.timeout(10_000);
  const response = await fetch(url, { headers, signal }).catch(() => undefined);
  if (response?.ok !== true) return [];
  return ((await response.json()) as { event: number }[]).map(({ event }) => event).reverse();
}

/** A bridge with a box whose doors had the states 1, 2, 3 … so long apart. */
async function bridgeWith(
  events: number,
  { began_ms, apart_ms = 60_000 }: { began_ms: number; apart_ms?: number },
): Promise<BridgeSimulator> {
  const bridge = await BridgeSimulator.listen({ transport: "pty" });
  const box = new SimulatedBox({ mac: box_mac, now_ms: Date.now });
  for (let event = 1; event <= events; event += 1) box.doors(event % 128, began_ms + event * apart_ms);
  bridge.boxes.push(box);
  return bridge;
}

/** The states of the doors at so many events, from the first on. */
export const doorsTo = (events: number) => range(1, events).map((event) => event % 128);

export const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index);

const randomBytes = (length: number) => crypto.getRandomValues(new Uint8Array(length));
