import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { byCommand, eventually, Site } from "../../testbed/front-door.ts";

const day_ms = 86_400_000;
let site: Site;
beforeEach(() => {
  site = new Site();
  mkdirSync(site.data, { recursive: true, mode: 0o700 });
});
afterEach(() => site.remove());

/** As if the machine's clock had leapt by two years since the gateway last knew the time. */
const leap = () =>
  writeFileSync(
    join(site.data, "known-time.json"),
    JSON.stringify({ unix_ms: Date.now() - 730 * day_ms, monotonic_ms: 1, boot: "before", confirmed: false }),
  );
const files = () =>
  ["tls-certificate.pem", "tls-key.pem"].map((name) => readFileSync(join(site.data, name), "utf8"));

test("a clock that leapt by two years, and a restart, leave certificate and key as they were; status, doctor and the page say so, and a person's command ends it", async () => {
  site.configure({ api: 'tls = "self-signed"' });
  const first = await site.run();
  const kept = files();
  expect(await first.stop()).toBe(0);
  leap();
  await site.run();
  expect(files()).toEqual(kept);
  const sentence =
    /The clock of this machine shows \d{4}-\d\d-\d\d, and no time after \d{4}-\d\d-\d\d is believed/;
  for (const command of [["status"], ["doctor"], ["clock"]]) {
    const { code, out } = await site.lintel(...command, "--data", site.data);
    expect(out).toMatch(sentence);
    expect(out).toContain("lintel clock --confirm");
    if (command[0] !== "status") expect(code).toBe(1);
  }
  const { running, clock_synchronised } = (await site.answer("status", "--json", "--data", site.data)) as {
    running: boolean;
    clock_synchronised: boolean;
  };
  expect([running, clock_synchronised]).toEqual([true, false]);
  // What an erasure at this date would take is still to come.
  const erased = await site.lintel("erase", "--home", "12", "--yes", "--data", site.data);
  expect([erased.code, erased.said]).toEqual([2, expect.stringMatching(sentence)]);
  const confirmed = await site.lintel("clock", "--confirm", "--data", site.data);
  expect([confirmed.code, confirmed.out]).toEqual([0, expect.stringContaining("It is believed.")]);
  await eventually(
    async () => {
      const status = (await site.answer("status", "--json", "--data", site.data)) as {
        clock_synchronised: boolean;
      };
      return status.clock_synchronised ? true : undefined;
    },
    "the gateway believes the clock",
    byCommand,
  );
  expect(files()).toEqual(kept);
});
