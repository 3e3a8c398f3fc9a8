import { existsSync } from "node:fs";
import { clockQuality } from "../../clock.ts";
import { OperatorError } from "../../errors.ts";
import { requireLibc } from "../../libc.ts";
import { type Finding, fault, fine, note, type Surroundings } from "./check.ts";

/** Bun can call the C library, as serial ports, GPIO and the word to systemd need. */
export async function checkLibc(_: Surroundings): Promise<Finding[]> {
  try {
    requireLibc();
    return [fine("the C library can be called, as serial ports, GPIO and systemd need")];
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    return [fault(error.what, error.remedy)];
  }
}

/** The system clock is right, as far as can be known: readings wait until it is. */
export async function checkClock({ clock }: Surroundings): Promise<Finding[]> {
  const cautions = (clock.cautions?.() ?? []).map(note);
  if (clock.now().quality === clockQuality.synchronised)
    return [fine("the system clock is set, and taken for right"), ...cautions];
  return [
    fault(
      "no time service has set the system clock since the machine started",
      "check the network, then sudo timedatectl set-ntp true (or install systemd-timesyncd or chrony); readings wait, unserved, until it is set",
    ),
    ...cautions,
  ];
}

/** The service is set up to start with the machine, where there is systemd and it is installed. */
export async function checkService(_: Surroundings): Promise<Finding[]> {
  if (!existsSync("/run/systemd/system"))
    return [note("systemd does not run here: nothing starts the gateway by itself")];
  const load = systemctl("show", unit, "--property=LoadState", "--value");
  if (load !== "loaded") {
    return [note(`${unit} is not installed: README.md, "On a Raspberry Pi", has the commands`)];
  }
  const enabled = systemctl("is-enabled", unit);
  const active = systemctl("is-active", unit);
  if (enabled !== "enabled") {
    return [fault(`${unit} does not start with the machine (${enabled})`, `sudo systemctl enable ${unit}`)];
  }
  if (active !== "active") {
    return [fault(`${unit} is ${active}`, `sudo systemctl start ${unit}, then journalctl -u ${unit}`)];
  }
  return [fine(`${unit} is enabled and active`)];
}

/** What systemctl prints, trimmed; nothing within five seconds counts as empty. */
export function systemctl(...words: string[]): string {
  return Bun.spawnSync(["systemctl", ...words], { stderr: "ignore", timeout: systemctl_max_ms })
    .stdout.toString()
    .trim();
}

const unit = "lintel.service";
const systemctl_max_ms = 5_000;
