import { availableParallelism } from "node:os";
import { isHot, machineHealth } from "../../base/machine-health.ts";
import { type Bench, type BurnInFinding, pause } from "./bench.ts";

/** How long every core has work, and how often the box asks the machine meanwhile: its alarm stands for two seconds. */
const load_ms = 60_000;
const look_ms = 1_000;

/** Whether the power supply gives enough while every core has work, and the machine stays cool. `sys`: where sysfs is mounted. */
export async function checkPower(
  { directory, clock, stop, terminal }: Pick<Bench, "directory" | "clock" | "stop" | "terminal">,
  sys = "/sys",
): Promise<BurnInFinding> {
  if (machineHealth(directory, { sys }).power_low === undefined)
    return { outcome: "skipped", found: "this machine does not tell whether its power supply is too weak." };
  const load = Array.from({ length: availableParallelism() }, () =>
    Bun.spawn(["sh", "-c", "while :; do :; done"], { stdin: "ignore", timeout: 2 * load_ms }),
  );
  let hottest_c = 0;
  try {
    for (let passed_ms = 0; passed_ms <= load_ms; passed_ms += look_ms) {
      const health = machineHealth(directory, { sys });
      const { power_low, slowed, temperature_c = 0 } = health;
      hottest_c = Math.max(hottest_c, temperature_c);
      const after = `${passed_ms / 1000} s after every core had work`;
      if (power_low) return { outcome: "failed", found: `The power supply was too weak ${after}.` };
      if (slowed || isHot(health))
        return {
          outcome: "failed",
          found: `The box was too hot ${after}: ${Math.round(temperature_c)} °C.`,
        };
      terminal.progress(`${passed_ms / 1000} of ${load_ms / 1000} s under load`);
      await pause({ clock, stop }, look_ms);
    }
  } finally {
    for (const one of load) one.kill("SIGKILL");
  }
  const heat = hottest_c === 0 ? "" : `, and the box became ${Math.round(hottest_c)} °C hot`;
  return {
    outcome: "passed",
    found: `The power supply gave enough for ${load_ms / 1000} s with work for every core${heat}.`,
  };
}
