import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isTimezone, timezoneMeant } from "../../src/base/timezone.ts";

const directory = mkdtempSync(join(tmpdir(), "lintel-timezone-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The zone that a new process finds with TZ set or not and /etc/localtime pointing there. */
async function saidBy(options: { link?: string; TZ?: string }): Promise<string> {
  const { link, TZ } = options;
  const program = `import { machineTimezone } from "${join(import.meta.dir, "../../src/base/timezone.ts")}";
    console.log(machineTimezone(${link === undefined ? "" : JSON.stringify(link)}), Intl.DateTimeFormat().resolvedOptions().timeZone)`;
  const { TZ: _, ...env } = process.env;
  const run = Bun.spawn([process.execPath, "-e", program], {
    env: TZ === undefined ? env : { ...env, TZ },
    stdout: "pipe",
  });
  return (await run.stdout.text()).trim();
}

test("the machine's time zone is what Intl calls it", async () => {
  const [own, intl] = (await saidBy({})).split(" ");
  expect(own).toBe(intl);
  expect(await saidBy({ TZ: "Asia/Tokyo" })).toBe("Asia/Tokyo Asia/Tokyo");
});

test.each([
  ["/usr/share/zoneinfo/Europe/Berlin", "Europe/Berlin"],
  ["../usr/share/zoneinfo/America/Argentina/Buenos_Aires", "America/Argentina/Buenos_Aires"],
  ["/usr/share/zoneinfo/Etc/UTC", "UTC"],
])("a link to %s is %s", async (target, name) => {
  const link = join(directory, name.replaceAll("/", "-"));
  symlinkSync(target, link);
  expect((await saidBy({ link })).split(" ")[0]).toBe(name);
});

test.each(["/usr/share/zoneinfo/Mars/Olympus", "/opt/clock/Europe/Berlin"])(
  "a link to %s is left to Intl",
  async (target) => {
    const link = join(directory, target.replaceAll("/", "-"));
    symlinkSync(target, link);
    const [own, intl] = (await saidBy({ link })).split(" ");
    expect(own).toBe(intl);
  },
);

test.each([
  "Europe/Berlin",
  "America/Argentina/Buenos_Aires",
  "Asia/Calcutta",
  "US/Pacific",
  "Etc/GMT-1",
  "UTC",
])("%s is a time zone", (name) => expect(isTimezone(name)).toBe(true));

test.each([
  "CET",
  "PST",
  "EST5EDT",
  "GMT",
  "+01:00",
  "Etc/+1",
  "europe/berlin",
  "Mars/Olympus",
  "../UTC",
  "",
])("'%s' is no time zone", (name) => expect(isTimezone(name)).toBe(false));

test.each(["CET", "EST5EDT", "GMT", "Etc/GMT-1", "Mars/Olympus"])(
  "a machine that is set to %s has a time zone all the same",
  async (TZ) => {
    const [own = ""] = (await saidBy({ TZ })).split(" ");
    expect(isTimezone(own)).toBe(true);
  },
);

test.each([
  ["CET", "Europe/Berlin"],
  ["pst", "America/Los_Angeles"],
  ["Berlin", "Europe/Berlin"],
  ["Europe/Berlim", "Europe/Berlin"],
])("who writes %s is told of %s", (written, meant) => expect(timezoneMeant(written)).toBe(meant));
