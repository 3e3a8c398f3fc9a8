import { existsSync, mkdirSync, rmSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { readIfThere, writeDurably } from "../../disk/durable-file.ts";
import { OperatorError } from "../../errors.ts";
import { systemctl } from "../doctor/system.ts";

/** Why systemd does not start the gateway of this configuration; undefined where it does. */
export function whyNoService(configuration: string): string | undefined {
  if (!existsSync("/run/systemd/system")) return "systemd does not run here";
  if (resolve(configuration) !== unit_configuration) return `lintel.service reads ${unit_configuration}`;
  if (systemctl("show", gateway, "--property=LoadState", "--value") !== "loaded")
    return "lintel.service is not installed";
  return undefined;
}

/** Has the gateway start with the machine, and uploads each night at this time; without one, none. @throws OperatorError */
export async function enableServices(upload_at: string | undefined): Promise<void> {
  placeUploadTime(upload_at);
  await must("daemon-reload");
  await must("enable", gateway);
  if (upload_at !== undefined) await must("enable", timer);
  else if (systemctl("is-enabled", timer) === "enabled") await must("disable", "--now", timer);
}

/** Starts the gateway and waits until it is ready; one that runs is started anew where something has changed. @throws OperatorError */
export async function startServices(upload: boolean, changed: boolean): Promise<void> {
  if (upload) await must(changed ? "restart" : "start", timer);
  await must(changed ? "restart" : "start", gateway);
}

/** The timer has 02:00 by itself; another time stands in a file of its own. */
function placeUploadTime(at: string | undefined): void {
  if (at === undefined || at === default_at) {
    rmSync(upload_time, { force: true });
    return;
  }
  const text = `# Written by lintel setup: [upload] at.\n[Timer]\nOnCalendar=\nOnCalendar=*-*-* ${at}:00\n`;
  if (readIfThere(upload_time) === text) return;
  mkdirSync(dirname(upload_time), { recursive: true, mode: 0o755 });
  writeDurably(upload_time, text);
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
const timer = "lintel-upload.timer";
const default_at = "02:00";
const unit_configuration = "/etc/lintel/lintel.toml";
const upload_time = "/etc/systemd/system/lintel-upload.timer.d/lintel-setup.conf";
