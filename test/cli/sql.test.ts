import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MirroredProgramme } from "../../scripts/trial-programs/with-source/mirror/programme.ts";
import { SystemClock } from "../../src/base/clock.ts";
import { chromiumPath, TestBrowser } from "../../testbed/browser.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { eventually, Site } from "../../testbed/front-door.ts";
import { sqlWorkersOf } from "../../testbed/sql-workers.ts";
import { openCentral } from "../../testbed/sqlite/opening.ts";
import { faultsForAll } from "../web/pages/accessibility.ts";

test("a central with --mirror answers SQL of the homes of a token, on a page and as a file", async () => {
  const site = new Site({ commands: lintelHere });
  try {
    const mirror = join(site.directory, "mirror");
    const store = await openCentral(site.data);
    await MirroredProgramme.small(store, mirror, new SystemClock());
    await store.close();
    const whole = await site.token();
    const bound = await site.token("--home", "1");
    const { code, said } = await site.lintel("central", "mirror", "--data", site.data, "--output", mirror);
    expect([code, said]).toEqual([0, expect.any(String)]);
    const central = await site.central("--data", site.data, "--mirror", mirror);
    const { origin } = new URL(central.ready.url);
    const asked = (text: string) => `${new URLSearchParams({ q: text })}`;
    const file = (text: string, token?: string) =>
      fetch(`${origin}/sql.csv?${asked(text)}`, {
        headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      });
    const homes = "SELECT DISTINCT home FROM wirelesssensor_events ORDER BY home";
    expect(await (await file(homes, whole)).text()).toBe("home\r\n1\r\n2\r\n");
    expect(await (await file(homes, bound)).text()).toBe("home\r\n1\r\n");
    expect((await file(homes)).status).toBe(401);
    const refused = await file("SELECT * FROM read_text('/etc/passwd')", whole);
    expect([refused.status, (await refused.json()).code]).toEqual([422, 42208]);

    if (chromiumPath !== undefined) {
      await using browser = await TestBrowser.start();
      await using visit = await browser.visit({ locale: "en-GB", viewport: { width: 390, height: 844 } });
      const { page } = visit;
      await page.goto(`${origin}/sign-in#token=${bound}`);
      await page.locator(".homes").waitFor();
      await page.goto(`${origin}/sql`);
      await page.locator("textarea").fill(homes);
      await page.getByRole("button", { name: "Answer" }).click();
      await page.getByRole("heading", { name: /^1 row in/ }).waitFor();
      expect(await page.locator("section[aria-label=Answer] td").allTextContents()).toEqual(["1"]);
      expect(new URL(page.url()).searchParams.get("q")).toBe(homes);
      expect(await faultsForAll(page)).toEqual([]);
    }

    // A central that is killed leaves no process behind.
    const gone = new AbortController();
    const long = fetch(
      `${origin}/sql.csv?${asked("SELECT count(*) FROM range(1000000000000) a, range(1000000) b")}`,
      {
        headers: { Authorization: `Bearer ${whole}` },
        signal: gone.signal,
      },
    ).catch(() => undefined);
    const worker = await eventually(() => sqlWorkersOf(central.process.pid)[0], "a query under way");
    central.process.kill("SIGKILL");
    await eventually(() => !existsSync(`/proc/${worker}`) || undefined, "that its process is gone");
    gone.abort();
    await long;
  } finally {
    await site.remove();
  }
});
