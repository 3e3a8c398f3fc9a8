import { readlinkSync } from "node:fs";
import { nearest } from "./text.ts";

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

/**
 * Whether there is a time zone of this name, by which local days can be made: `UTC`, or an IANA name of area and place, also one that was replaced
 * by another (US/Pacific), and those of `Etc/`. Abbreviations (PST, CET) and offsets (+01:00) are none: they know no daylight saving, or several
 * places have one. Names are told apart by case, as the files of the system are.
 */
export function isTimezone(name: string): boolean {
  const known = looked.get(name) ?? looksUp(name);
  if (looked.size < looked_max) looked.set(name, known);
  return known;
}

/** Central asks it of every home of a page. */
const looked = new Map<string, boolean>();
const looked_max = 1_000;

function looksUp(name: string): boolean {
  if (name === "UTC") return true;
  if (name.length > name_max || !/^[A-Z]\w*(\/[A-Z][\w+-]*)+$/.test(name)) return false;
  if (isListed(name)) return true;
  // Names that were replaced are none of the list, and good all the same.
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** The time zone that was probably meant by a name that is none. */
export function timezoneMeant(written: string): string | undefined {
  const word = written.slice(0, name_max).trim().replaceAll(" ", "_");
  const abbreviated = abbreviations[word.toUpperCase()];
  if (abbreviated !== undefined) return abbreviated;
  const zones = Intl.supportedValuesOf("timeZone");
  const meant = nearest(word, zones);
  if (meant !== undefined) return meant;
  return zones.find((zone) => zone.toLowerCase().endsWith(`/${word.toLowerCase()}`));
}

/** Places of abbreviations that many people write; of those that several places have, the one with the most people. */
const abbreviations: Readonly<Record<string, string>> = {
  ...{
    PST: "America/Los_Angeles",
    PDT: "America/Los_Angeles",
    PT: "America/Los_Angeles",
    PST8PDT: "America/Los_Angeles",
  },
  ...{ MST: "America/Denver", MDT: "America/Denver", MT: "America/Denver", MST7MDT: "America/Denver" },
  ...{ CST: "America/Chicago", CDT: "America/Chicago", CT: "America/Chicago", CST6CDT: "America/Chicago" },
  ...{
    EST: "America/New_York",
    EDT: "America/New_York",
    ET: "America/New_York",
    EST5EDT: "America/New_York",
  },
  ...{
    GMT: "Europe/London",
    BST: "Europe/London",
    WET: "Europe/Lisbon",
    CET: "Europe/Berlin",
    CEST: "Europe/Berlin",
  },
  ...{
    EET: "Europe/Athens",
    EEST: "Europe/Athens",
    JST: "Asia/Tokyo",
    IST: "Asia/Kolkata",
    AEST: "Australia/Sydney",
  },
  Z: "UTC",
};

const name_max = 64;

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
