import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, lintel, Site } from "../../../testbed/front-door.ts";
import { SimulatorProcess } from "../../../testbed/simulator-process.ts";

/** The trial inside the machine: its lines go to the console, the last of them is `passed`. */
const device = "/sys/devices/platform/gpio-sim.1";
const [bank = ""] = readdirSync(device).filter((name) => name.startsWith("gpiochip"));
const line = (number: number, file: "pull" | "value") => join(device, bank, `sim_gpio${number}`, file);
const [lamp, button] = [17, 27];

const lit = () => readFileSync(line(lamp, "value"), "utf8").trim() === "1";
const isUp = () => readFileSync(line(button, "value"), "utf8").trim() === "1";
const pull = (to: "up" | "down") => writeFileSync(line(button, "pull"), `pull-${to}`);

/** Pulls the line to ground and lets it go some times within a few milliseconds, as contacts do, and leaves it there. */
function bounce(last: "up" | "down"): void {
  for (let times = 0; times < 5; times += 1) {
    pull(last);
    pull(last === "up" ? "down" : "up");
  }
  pull(last);
}

async function attempt(way: string, program: readonly string[], detail: string): Promise<void> {
  const site = new Site({ program: [...program, lintel] });
  const asked = new Site();
  const ending: (() => Promise<unknown>)[] = [() => site.remove(), () => asked.remove()];
  try {
    const stick = await SimulatorProcess.start("zigbee");
    ending.push(() => stick.end());
    site.configure({
      sections: `[zigbee]\nport = "${stick.path}"\nadapter = "zstack"\n[gpio]\nled = ${lamp}\nbutton = ${button}`,
    });
    const gateway = await site.run();
    const status = () => asked.answer("status", "--json", "--data", site.data);
    const until = (what: string, holds: () => Promise<boolean> | boolean) =>
      eventually(async () => ((await holds()) ? true : undefined), `${way}: ${what}`);
    await until("both drivers listen", async () => {
      const { drivers } = await status();
      return drivers?.filter(({ state }: { state: string }) => state === "listening").length === 2;
    });
    const { drivers } = await status();
    const told = drivers.find(({ name }: { name: string }) => name === "gpio").detail;
    if (told !== detail) throw new Error(`${way}: the status says ${told}`);
    await until("the button's line is pulled up", isUp);
    await until("the lamp is lit", lit);
    const joining = (wanted: boolean) =>
      until(`joining is ${wanted}`, async () => (await status()).joining === wanted);
    bounce("down");
    await joining(true);
    await until("the lamp goes out", () => !lit());
    await until("the lamp lights again", lit);
    bounce("up");
    // A bounce that was taken for a press would have closed it.
    await Bun.sleep(500);
    await joining(true);
    const doctor = await asked.lintel("doctor", "--config", site.config);
    if (!doctor.out.includes(detail)) throw new Error(`${way}: lintel doctor says ${doctor.out}`);
    bounce("down");
    await joining(false);
    bounce("up");
    const code = await gateway.stop();
    if (code !== 0 || lit())
      throw new Error(`${way}: stopped with ${code}, and the lamp is ${lit() ? "lit" : "out"}`);
    console.log(`${way}: ${told}`);
  } finally {
    for (const end of ending) await end();
  }
}

try {
  const on = `led on GPIO ${lamp}, button on GPIO ${button} of pinctrl-rp1`;
  const base = readdirSync("/sys/class/gpio")
    .filter((name) => name.startsWith("gpiochip"))
    .find((name) => readFileSync(`/sys/class/gpio/${name}/label`, "utf8").trim() === "pinctrl-rp1");
  // As in a unit with ProtectKernelTunables=yes, and as where the kernel has no sysfs for its lines.
  const readOnly = ["unshare", "--mount", "sh", "-c", 'mount -o remount,bind,ro /sys && exec "$@"', "sh"];
  const without = [
    "unshare",
    "--mount",
    "sh",
    "-c",
    'mount -t tmpfs none /sys/class/gpio && exec "$@"',
    "sh",
  ];
  await attempt("where /sys is read-only", readOnly, `${on} (/dev/gpiochip1)`);
  await attempt("where sysfs has no lines", without, `${on} (/dev/gpiochip1)`);
  // Nothing pulls a line up by sysfs: a resistor does.
  pull("up");
  await attempt("where sysfs has them", [], `${on} (sysfs, base ${base?.slice("gpiochip".length)})`);
  console.log("passed");
} catch (thrown) {
  console.log(thrown instanceof Error ? thrown.message : String(thrown));
}
