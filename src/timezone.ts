import { readlinkSync } from "node:fs";

/**
 * The IANA name of this machine's time zone. Read from where `link` points (localtime(5)) rather than asked of
 * Intl, which then keeps 4 MB of calendars and number forms for as long as the program runs; that is asked where
 * the link says nothing, as where the environment's TZ is set.
 */
export function machineTimezone(link = "/etc/localtime"): string {
  const named = process.env["TZ"] ? undefined : /\/zoneinfo\/(\w+(?:\/[\w+-]+)+)$/.exec(targetOf(link))?.[1];
  if (named === "Etc/UTC") return "UTC";
  return named !== undefined && isListed(named) ? named : Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** Whether there is a time zone of this name. */
export function isTimezone(name: string): boolean {
  if (isListed(name)) return true;
  // Old names and abbreviations are none of the list, and good all the same.
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** A list of names costs a quarter of what a formatter of dates does. */
function isListed(name: string): boolean {
  return Intl.supportedValuesOf("timeZone").includes(name);
}

function targetOf(link: string): string {
  try {
    return readlinkSync(link);
  } catch {
    return "";
  }
}
