import { join } from "node:path";
import { ControlClient } from "../../../src/control/client.ts";
import { eventually, Site } from "../../../test/shipped/front-door.ts";
import { Belongings } from "./belongings.ts";
import { Samples } from "./samples.ts";
import { Sensors } from "./sensors.ts";

/** As it is started in a home: with the limits that this sets. */
const program = join(import.meta.dir, "../../lintel");
const listening_tries_max = 2_400;

/** A month before a gateway of its own process, with all drivers or Zigbee alone. */
export async function lintelMonth(options: { days: number; rate: number; all: boolean }): Promise<Samples> {
  const { days, rate, all } = options;
  const samples = new Samples(`lintel with ${all ? "all drivers" : "Zigbee alone"}`);
  const site = new Site([program]);
  const sensors = await Sensors.listen();
  const belongings = all ? await Belongings.listen(days) : undefined;
  try {
    const sections = `[zigbee]\nport = "${sensors.path}"\nadapter = "zstack"\n${belongings?.sections ?? ""}`;
    site.configure({ sections });
    const gateway = await site.run();
    const token = await site.token();
    const client = new ControlClient(site.data);
    await pair(client, sensors);
    samples.take(gateway.process.pid);
    for (let day = 0; day < days; day++) {
      await Promise.all([sensors.day(rate), belongings?.day()]);
      await listening(client);
      await ask(gateway, token, sensors);
      samples.take(gateway.process.pid);
    }
    await arrived(gateway, token, sensors);
    const code = await gateway.stop();
    if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  } finally {
    await Promise.all([sensors.close(), belongings?.close()]);
    await site.remove();
  }
  return samples;
}

type Gateway = Awaited<ReturnType<Site["run"]>>;

async function listening(client: ControlClient): Promise<void> {
  await eventually(
    async () => {
      const status = await client.statusIfRunning();
      return status?.drivers.every(({ state }) => state === "listening") ? true : undefined;
    },
    "every driver listens",
    { tries_max: listening_tries_max },
  );
}

/** Lets the sensors in one after the other, as `lintel pair` does. */
async function pair(client: ControlClient, sensors: Sensors): Promise<void> {
  await listening(client);
  let next = 0;
  for await (const step of client.joining(254)) {
    if (step.state === "failed") throw new Error(`${step.address}: ${step.reason}`);
    if (step.state === "open" || step.state === "joined") {
      const device = sensors.devices[next++];
      if (device === undefined) break;
      device.join();
    }
  }
}

/** What a researcher's script and the dashboard ask in a day. */
async function ask(gateway: Gateway, token: string, sensors: Sensors): Promise<void> {
  const paths = [
    "/items",
    "/homes",
    ...sensors.devices.map(({ ieee }) => `/items/wirelesssensors/${nameOf(ieee)}/events?limit=1000`),
  ];
  for (const path of paths) {
    const response = await gateway.get(path, token);
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }
}

/** Waits until the last notification of every sensor can be read. */
async function arrived(gateway: Gateway, token: string, sensors: Sensors): Promise<void> {
  for (const [index, { ieee }] of sensors.devices.entries()) {
    const last = (sensors.sent - sensors.devices.length + index + 1) & 0xffff;
    await eventually(async () => {
      const response = await gateway.get(`/items/wirelesssensors/${nameOf(ieee)}/events?limit=1`, token);
      const [newest] = (await response.json()) as { event: number }[];
      return newest?.event === last ? true : undefined;
    }, `event ${last} of ${ieee}`);
  }
}

function nameOf(ieee: string): string {
  return `wirelesssensor-${ieee.replaceAll(":", "")}`;
}
