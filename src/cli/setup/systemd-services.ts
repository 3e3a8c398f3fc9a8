import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readIfThere, writeDurably } from "../../base/disk/safe-files.ts";
import { OperatorError } from "../../base/errors.ts";
import { systemctl } from "../doctor/system-checks.ts";

/** Why systemd does not start the gateway of this configuration; undefined where it does. */
export function whyNoService(configuration: string): string | undefined {
  if (!existsSync("/run/systemd/system")) return "systemd does not run here";
  if (resolve(configuration) !== unit_configuration) return `lintel.service reads ${unit_configuration}`;
  if (systemctl("show", gateway, "--property=LoadState", "--value") !== "loaded")
    return "lintel.service is not installed";
  return undefined;
}

/** Work that a configuration has the box do each night. */
export interface Nightly {
  /** The time of uploads; absent: none. */
  readonly upload_at: string | undefined;
  readonly updates: boolean;
}

/**
 * Has the gateway start with the machine, and what it does each night; nothing else is done by night.
 *
 * @param adapter whether the gateway uses a Bluetooth adapter of the kernel
 * @returns whether its rights are others now, which a running gateway has only after a restart
 * @throws OperatorError
 */
export async function enableServices({ upload_at, updates }: Nightly, adapter: boolean): Promise<boolean> {
  place(upload_time, upload_at === undefined || upload_at === default_at ? undefined : uploadTime(upload_at));
  const changed = place(adapter_rights, adapter ? adapterRights : undefined);
  await must("daemon-reload");
  await must("enable", gateway);
  await setEnabled(upload_at !== undefined, uploadTimer);
  await setEnabled(updates, ...updateUnits);
  return changed;
}

async function setEnabled(wanted: boolean, ...units: string[]): Promise<void> {
  if (wanted) await must("enable", ...units);
  else if (units.some((unit) => systemctl("is-enabled", unit) === "enabled"))
    await must("disable", "--now", ...units);
}

/** Starts the gateway and waits until it is ready; one that runs is started anew where something has changed. @throws OperatorError */
export async function startServices({ upload_at, updates }: Nightly, changed: boolean): Promise<void> {
  if (upload_at !== undefined) await must(changed ? "restart" : "start", uploadTimer);
  if (updates) await must("start", ...updateUnits);
  await must(changed ? "restart" : "start", gateway);
}

/** The timer has 02:00 by itself; another time stands in a file of its own. */
function uploadTime(at: string): string {
  return `# Written by lintel setup: [upload] at.\n[Timer]\nOnCalendar=\nOnCalendar=*-*-* ${at}:00\n`;
}

/**
 * Rights of a gateway at a Bluetooth adapter of the kernel, besides those of its unit. The one that the kernel asks for can also configure
 * networks, and the kernel knows it for its own users alone, not for those of PrivateUsers.
 */
export const adapterRights = `# Written by lintel setup: [ble] port is a Bluetooth adapter of the kernel.
[Service]
AmbientCapabilities=CAP_NET_ADMIN
CapabilityBoundingSet=CAP_NET_ADMIN
PrivateUsers=no
RestrictAddressFamilies=AF_BLUETOOTH
`;

/** Writes a file of a unit, or removes it where there is no text. Answers whether that changed anything. */
function place(path: string, text: string | undefined): boolean {
  if (readIfThere(path) === text) return false;
  if (text === undefined) rmSync(path, { force: true });
  else {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeDurably(path, text);
  }
  return true;
}

async function must(...words: string[]): Promise<void> {
  const child = Bun.spawn(["systemctl", ...words], { stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [said, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code === 0) return;
  const unit = words.at(-1) ?? "";
  throw new OperatorError(
    `systemctl ${words.join(" ")} failed (${said.trim().split("\n")[0] ?? ""})`,
    unit.includes(".") ? `journalctl -u ${unit} -n 20 says why; then run this again` : "run this as root",
  );
}

const gateway = "lintel.service";
const uploadTimer = "lintel-upload.timer";
/** The one looks for releases, the other at a release on trial. */
const updateUnits = ["lintel-update.timer", "lintel-update-resume.timer"] as const;
const default_at = "02:00";
const unit_configuration = "/etc/lintel/lintel.toml";
const upload_time = "/etc/systemd/system/lintel-upload.timer.d/lintel-setup.conf";
const adapter_rights = "/etc/systemd/system/lintel.service.d/lintel-setup.conf";
