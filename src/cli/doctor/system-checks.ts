import { existsSync } from "node:fs";
import { clockQuality } from "../../base/clock.ts";
import { requireLibc } from "../../base/libc.ts";
import { type CheckResult, type Finding, fault, fine, note, type Surroundings } from "./finding.ts";

/** Bun can call the C library, as serial ports, GPIO and the word to systemd need. */
export function checkLibc(): CheckResult {
  requireLibc();
  return fine("the C library can be called, as serial ports, GPIO and systemd need");
}

/** The system clock is right, as far as can be known: readings wait until it is. */
export function checkClock({ clock }: Surroundings): CheckResult {
  const cautions = (clock.cautions?.() ?? []).map(note);
  if (clock.now().quality === clockQuality.synchronised)
    return [fine("the system clock is set, and taken for right"), ...cautions];
  const doubt = clock.doubt?.();
  if (doubt !== undefined) return fault(doubt.what, doubt.remedy);
  return [
    fault(
      "no time service has set the system clock since the machine started",
      "check the network, then sudo timedatectl set-ntp true (or install systemd-timesyncd or chrony); readings wait, unserved, until it is set",
    ),
    ...cautions,
  ];
}

/** The service starts with the machine, and runs, as systemd says, where there is systemd and it is installed. */
export function checkService(): CheckResult {
  if (!existsSync("/run/systemd/system"))
    return note("systemd does not run here: nothing starts the gateway by itself");
  const shown = systemctl("show", unit, `--property=${properties.join(",")}`);
  return serviceFindings(shown, () => lastLine(unit));
}

/**
 * Findings from systemd's properties of the service.
 *
 * @param shown the output of `systemctl show` for `properties`
 * @param last the last line that the service itself has logged; empty where this user may not read it
 */
export function serviceFindings(shown: string, last: () => string): readonly Finding[] {
  const facts = new Map(shown.split("\n").map((line) => line.split(/=(.*)/s) as [UnitProperty, string]));
  const fact = (name: UnitProperty) => facts.get(name) ?? "";
  if (fact("LoadState") === "")
    return [note(`systemd does not say how ${unit} is: sudo systemctl status ${unit} may`)];
  if (fact("LoadState") !== "loaded")
    return [note(`${unit} is not installed: docs/install.md has the commands`)];
  const enabled = fact("UnitFileState");
  const state = stateFinding(fact, last);
  if (enabled === "enabled") return [state];
  const disabled = `${unit} does not start with the machine (${enabled})`;
  return [fault(disabled, `sudo systemctl enable ${unit}`), state];
}

function stateFinding(fact: (name: UnitProperty) => string, last: () => string): Finding {
  const restarts = Number(fact("NRestarts"));
  const again = restarts > 0 ? `, started again ${restarts} times` : "";
  const state = `${unit} is ${fact("ActiveState")} (${fact("SubState")}${again})`;
  const status = fact("StatusText");
  if (fact("ActiveState") === "active") return fine(status === "" ? state : `${state}: ${status}`);
  if (fact("ActiveState") === "activating" && fact("SubState") !== "auto-restart")
    return note(`${state}: ask again in a moment; journalctl -u ${unit} shows what it does`);
  const line = last();
  return fault(
    `${state}: ${line === "" ? fact("Result") : `its last line is "${line}"`}`,
    `correct that (sudo journalctl -u ${unit} -n 20), then sudo systemctl restart ${unit}`,
  );
}

/** The line last logged by the processes of a unit, without systemd's own lines about them. */
function lastLine(of: string): string {
  const words = [`_SYSTEMD_UNIT=${of}`, "--lines=1", "--output=cat", "--no-pager", "--quiet"];
  return printed("journalctl", words);
}

/** The output of systemctl, trimmed; empty where there is none within five seconds. */
export function systemctl(...words: string[]): string {
  return printed("systemctl", words);
}

function printed(program: string, words: readonly string[]): string {
  return Bun.spawnSync([program, ...words], { stderr: "ignore", timeout: systemctl_max_ms })
    .stdout.toString()
    .trim();
}

const unit = "lintel.service";
const properties = [
  "LoadState",
  "UnitFileState",
  "ActiveState",
  "SubState",
  "Result",
  "NRestarts",
  "StatusText",
] as const;
type UnitProperty = (typeof properties)[number];
const systemctl_max_ms = 5_000;
