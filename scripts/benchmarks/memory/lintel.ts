import { eventually, type MachineSize, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { letIn } from "../stick/home.ts";
import { OtherDevices } from "./other-devices.ts";
import { Samples } from "./samples.ts";
import { type HomeName, Sensors } from "./sensors.ts";

/** A month before a gateway as it is started in a home, with all drivers or Zigbee alone. */
export async function lintelMonth(options: {
  days: number;
  rate: number;
  all: boolean;
  home: HomeName;
  machine: MachineSize;
}): Promise<Samples> {
  const { days, rate, all, home, machine } = options;
  const samples = new Samples(`lintel with ${all ? "all drivers" : "Zigbee alone"}, ${machine} machine`);
  const site = new Site({ machine });
  const sensors = await Sensors.listen(site.directory, home);
  const others = all ? await OtherDevices.listen(days, site.directory) : undefined;
  try {
    const sections = `[zigbee]\nport = "${sensors.path}"\nadapter = "zstack"\n${others?.sections ?? ""}`;
    site.configure({ sections });
    const gateway = await site.run();
    const token = await site.token();
    await site.listening();
    await letIn(site, sensors.devices);
    samples.take(gateway.process.pid);
    for (let day = 0; day < days; day++) {
      await Promise.all([sensors.day(rate), others?.day()]);
      await site.listening();
      await ask(gateway, token, sensors);
      samples.take(gateway.process.pid);
    }
    await arrived(gateway, token, sensors);
    const code = await gateway.stop();
    if (code !== 0) throw new Error(`the gateway ended with ${code}`);
  } finally {
    await Promise.all([sensors.close(), others?.close()]);
    await site.remove();
  }
  return samples;
}

/** Asks for what a researcher's script and the dashboard ask for in a day. */
async function ask(gateway: RunningServer, token: string, sensors: Sensors): Promise<void> {
  const paths = [
    "/items",
    "/homes",
    ...sensors.devices.map(({ ieee }) => `/items/wirelesssensors/${nameOf(ieee)}/events?limit=1000`),
  ];
  for (const path of paths) {
    await gateway.records(path, token);
  }
}

/** Waits until the last notification of every sensor can be read. */
async function arrived(gateway: RunningServer, token: string, sensors: Sensors): Promise<void> {
  for (const [index, { ieee, modelName }] of sensors.devices.entries()) {
    if (modelName !== "3041") continue;
    const last = (sensors.sent - sensors.devices.length + index + 1) & 0xffff;
    await eventually(async () => {
      const path = `/items/wirelesssensors/${nameOf(ieee)}/events?limit=1`;
      const [newest] = await gateway.records<{ event: number }[]>(path, token);
      return newest?.event === last ? true : undefined;
    }, `event ${last} of ${ieee}`);
  }
}

function nameOf(ieee: string): string {
  return `wirelesssensor-${ieee.replaceAll(":", "")}`;
}
