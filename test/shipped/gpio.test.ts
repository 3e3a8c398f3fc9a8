import { afterAll, expect, test } from "bun:test";
import { join } from "node:path";
import { byCommand, eventually, lintel, Site } from "../../testbed/front-door.ts";

const namespaces = ["unshare", ...(process.getuid?.() === 0 ? [] : ["--map-root-user"]), "--mount", "--uts"];
const layout = join(import.meta.dir, "../drivers/gpio/fake-sysfs.sh");
const mountable = Bun.spawnSync([...namespaces, layout, "true"]).exitCode === 0;
if (!mountable) console.error("NOT TESTED: lamp and button of lintel run, for want of mounts");

/** Its servers see a Raspberry Pi's header at /sys/class/gpio, each one of its own. */
const pi = new Site({ program: [...namespaces, layout, lintel] });
/** The same machine as its other users see it. */
const site = new Site();
afterAll(() => Promise.all([pi.remove(), site.remove()]));

test.skipIf(!mountable)(
  "the button opens joining for two minutes, which the lamp shows; the next press closes it",
  async () => {
    const stick = await pi.simulator("zigbee");
    pi.configure({ sections: `${stick.section}\n[gpio]\nled = 17\nbutton = 27` });
    const gateway = await pi.run();
    const inside = (program: string) =>
      Bun.spawnSync(["nsenter", `--target=${gateway.process.pid}`, "--mount", "--uts", "sh", "-c", program]);
    const lit = () => inside("cat /sys/class/gpio/gpio529/value").stdout.toString().trim() === "1";
    const hold = (value: 0 | 1) => inside(`echo ${value} >/proc/sys/kernel/hostname`);
    const status = () => site.answer("status", "--json", "--data", pi.data);
    const joining = (wanted: boolean) =>
      eventually(
        async () => ((await status()).joining === wanted ? true : undefined),
        `joining: ${wanted}`,
        byCommand,
      );
    await eventually(
      async () => {
        const { drivers } = await status();
        const listening = drivers?.filter(({ state }: { state: string }) => state === "listening");
        return listening?.length === 2 ? true : undefined;
      },
      "both drivers listen",
      byCommand,
    );
    const { drivers } = await status();
    expect(drivers.find(({ name }: { name: string }) => name === "gpio").detail).toBe(
      "led on GPIO 17, button on GPIO 27 of pinctrl-bcm2711 (sysfs, base 512)",
    );
    hold(1);
    await joining(true);
    hold(0);
    await eventually(() => (lit() ? undefined : true), "the lamp goes out");
    await eventually(() => (lit() ? true : undefined), "the lamp goes on again");
    hold(1);
    await joining(false);
    await eventually(() => (lit() ? true : undefined), "the lamp is lit");
    expect(await gateway.stop()).toBe(0);
  },
);
