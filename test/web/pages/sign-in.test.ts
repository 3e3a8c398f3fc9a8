import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser, type Visit } from "../../../testbed/browser.ts";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { RecordingProxy } from "./recording-proxy.ts";

if (chromiumPath === undefined) test.skip(`signing in in a browser: ${noChromium}`, () => {});

describe.skipIf(chromiumPath === undefined)("signing in in a browser", () => {
  const site = new Site();
  const centralSite = new Site();
  let browser: TestBrowser;
  let gateway: RunningServer;
  let central: RunningServer;
  let token: string;
  let centralToken: string;

  beforeAll(async () => {
    site.configure();
    token = await site.token();
    [gateway, central, browser] = await Promise.all([
      site.run(),
      centralSite.central("--data", centralSite.data),
      TestBrowser.start(),
    ]);
    centralToken = await centralSite.token();
  });
  afterAll(async () => {
    await browser?.[Symbol.asyncDispose]();
    await Promise.all([gateway?.stop(), central?.stop()]);
    await Promise.all([site.remove(), centralSite.remove()]);
  });

  /** Types a token into the way in. */
  const give = async ({ page }: Visit, text: string) => {
    await page.getByLabel("Access token").fill(text);
    await page.getByRole("button", { name: "Sign in" }).click();
  };
  const seesHome = ({ page }: Visit) => page.getByRole("button", { name: "Sign out" }).waitFor();
  /** Its first screen is there before the script that follows the server. */
  const follows = ({ page }: Visit) =>
    page.waitForResponse((answer) => new URL(answer.url()).pathname === "/live");
  const revoke = (of: string) => site.answer("token", "revoke", of, "--json", "--data", site.data);

  test("with a wrong token it says so, and with a right one goes on to where one wanted to go", async () => {
    await using visit = await browser.visit();
    await visit.page.goto(`${gateway.origin}/?day=2026-11-03`);
    expect(visit.page.url()).toBe(`${gateway.origin}/sign-in?next=%2F%3Fday%3D2026-11-03`);
    await give(visit, "mistyped");
    expect(await visit.page.getByRole("alert").textContent()).toContain("This token is not valid here");
    // The browser's own word for an answer of 403.
    expect(visit.faults.splice(0).map((fault) => /403/.test(fault))).toEqual([true]);
    await give(visit, token);
    await seesHome(visit);
    expect(visit.page.url()).toBe(`${gateway.origin}/?day=2026-11-03`);
    expect(visit.faults).toEqual([]);
  });

  test("by a link leaves the token in no request but the form's, and in no address", async () => {
    using proxy = new RecordingProxy(Number(new URL(gateway.origin).port));
    await using visit = await browser.visit();
    const origin = `http://127.0.0.1:${proxy.port}`;
    await visit.page.goto(`${origin}/#token=${token}`);
    await seesHome(visit);
    expect(visit.page.url()).toBe(`${origin}/`);
    const devtools = await visit.page.context().newCDPSession(visit.page);
    const { entries } = await devtools.send("Page.getNavigationHistory");
    expect(entries.map(({ url }) => url)).toEqual(["about:blank", `${origin}/sign-in`, `${origin}/`]);
    const lines = proxy.requests.map(({ line }) => line);
    expect(lines.slice(0, 2)).toEqual(["GET / HTTP/1.1", "GET /sign-in HTTP/1.1"]);
    for (const { line, headers, body } of proxy.requests) {
      expect(line).not.toContain(token);
      // Then it is the session.
      expect(headers.replace(/^Cookie: .*$/gim, "")).not.toContain(token);
      if (body.includes(token)) expect(line).toBe("POST /sign-in HTTP/1.1");
    }
    const [cookie, ...others] = await visit.page.context().cookies();
    expect(others).toEqual([]);
    expect(cookie).toMatchObject({
      name: `lintel-${proxy.port}`,
      value: token,
      httpOnly: true,
      sameSite: "Strict",
      expires: -1,
    });
    expect(await visit.page.evaluate("document.cookie")).toBe("");
    expect(visit.faults).toEqual([]);
  });

  test("by a link asks who is signed in already, on whatever page it is opened", async () => {
    const other = await site.token();
    await using visit = await browser.visit();
    await visit.page.goto(`${gateway.origin}/#token=${token}`);
    await seesHome(visit);
    const held = async () => (await visit.page.context().cookies())[0]?.value;
    // Only the part behind the # changes: nothing is loaded.
    await visit.page.goto(`${gateway.origin}/#token=${other}`);
    await visit.page.getByText("You are signed in here already").waitFor();
    expect(visit.page.url()).toBe(`${gateway.origin}/sign-in`);
    expect(await held()).toBe(token);
    await visit.page.getByText("Stay signed in as before").click();
    await seesHome(visit);
    expect(await held()).toBe(token);
    await visit.page.goto(`${gateway.origin}/sign-in#token=${other}`);
    await visit.page.getByText("You are signed in here already").waitFor();
    await visit.page.getByRole("button", { name: "Sign in" }).click();
    await seesHome(visit);
    expect(await held()).toBe(other);
    expect(visit.faults).toEqual([]);
  });

  test("works by plain HTTP at a name of the home's network, where browsers say less", async () => {
    await using visit = await browser.visit();
    const origin = `http://gateway.test:${new URL(gateway.origin).port}`;
    const followed = follows(visit);
    await visit.page.goto(origin);
    await give(visit, token);
    await seesHome(visit);
    await followed;
    await visit.page.getByRole("button", { name: "Sign out" }).click();
    await visit.page.getByLabel("Access token").waitFor();
    expect(await visit.page.context().cookies()).toEqual([]);
    expect(visit.faults).toEqual([]);
  });

  test("holds at a gateway and a central of one host at once, and ends at each by itself", async () => {
    await using visit = await browser.visit();
    await visit.page.goto(`${gateway.origin}/#token=${token}`);
    await seesHome(visit);
    await visit.page.goto(`${central.origin}/sign-in#token=${centralToken}`);
    await visit.page.waitForURL(`${central.origin}/`);
    expect((await visit.page.context().cookies()).map(({ value }) => value)).toEqual([token, centralToken]);
    await visit.page.goto(gateway.origin);
    await visit.page.getByRole("button", { name: "Sign out" }).click();
    await visit.page.getByLabel("Access token").waitFor();
    expect((await visit.page.context().cookies()).map(({ value }) => value)).toEqual([centralToken]);
  });

  test("ends when the token is revoked: the page says so by itself", async () => {
    const brief = await site.token();
    await using visit = await browser.visit();
    const followed = follows(visit);
    await visit.page.goto(`${gateway.origin}/#token=${brief}`);
    await seesHome(visit);
    await followed;
    await revoke(brief);
    await visit.page.getByText("You have been signed out").waitFor();
    expect(visit.page.url()).toBe(`${gateway.origin}/sign-in?fault=ended`);
    expect(await visit.page.context().cookies()).toEqual([]);
    expect(visit.faults).toEqual([]);
  });

  test("ends so too where the token was revoked before the page could follow the server", async () => {
    const brief = await site.token();
    await using visit = await browser.visit();
    const { promise: revoked, resolve: goOn } = Promise.withResolvers<void>();
    await visit.page.route("**/live", (route) => revoked.then(() => route.continue()));
    await visit.page.goto(`${gateway.origin}/#token=${brief}`);
    await seesHome(visit);
    await revoke(brief);
    goOn();
    await visit.page.getByText("You have been signed out").waitFor();
    expect(await visit.page.context().cookies()).toEqual([]);
  });

  test("lasts while the server is away: the page says since when, and goes on by itself", async () => {
    const away = new Site();
    try {
      away.configure();
      const own = await away.token();
      const first = await away.run();
      away.configure({ listen: new URL(first.origin).host });
      await using visit = await browser.visit();
      await visit.page.clock.install();
      const followed = follows(visit);
      await visit.page.goto(`${first.origin}/#token=${own}`);
      await seesHome(visit);
      await followed;
      const lost = visit.page.getByText("No connection since");
      await first.stop();
      await eventually(async () => {
        await visit.page.clock.runFor(1_000);
        return (await lost.isVisible()) || undefined;
      }, "the line that says so");
      const second = await away.run();
      await eventually(async () => {
        await visit.page.clock.runFor(1_000);
        return (await lost.isHidden()) || undefined;
      }, "its end");
      await seesHome(visit);
      await second.stop();
    } finally {
      await away.remove();
    }
  });

  test("ended shows nothing to who goes back", async () => {
    await using visit = await browser.visit();
    await visit.page.goto(`${gateway.origin}/#token=${token}`);
    await seesHome(visit);
    await visit.page.getByRole("button", { name: "Sign out" }).click();
    await visit.page.getByLabel("Access token").waitFor();
    await visit.page.goBack();
    await visit.page.getByLabel("Access token").waitFor();
    expect(await visit.page.getByRole("button", { name: "Sign out" }).count()).toBe(0);
  });

  describe("from another site", () => {
    const page = (body: string) =>
      new Response(`<!doctype html>${body}`, { headers: { "Content-Type": "text/html" } });
    let body = "";
    const elsewhere = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => page(body) });
    const foreign = `http://elsewhere.test:${elsewhere.port}/`;
    const target = () => `http://gateway.test:${new URL(gateway.origin).port}`;
    afterAll(() => elsewhere.stop(true));

    test("a link leads to the page, where one is signed in", async () => {
      await using visit = await browser.visit();
      await visit.page.goto(`${target()}/#token=${token}`);
      await seesHome(visit);
      body = `<a href="${target()}/?day=2026-11-03">look</a>`;
      await visit.page.goto(foreign);
      await visit.page.getByText("look").click();
      await seesHome(visit);
      expect(visit.page.url()).toBe(`${target()}/?day=2026-11-03`);
    });

    test("a form signs nobody in, nor out", async () => {
      await using visit = await browser.visit();
      body = `<form method="post" action="${target()}/sign-in"><input name="token" value="${token}"><button>go</button></form>`;
      await visit.page.goto(foreign);
      await visit.page.getByText("go").click();
      await visit.page.getByText("was not sent by a page of this server").waitFor();
      expect(await visit.page.context().cookies()).toEqual([]);
      await visit.page.goto(`${target()}/#token=${token}`);
      await seesHome(visit);
      body = `<form method="post" action="${target()}/sign-out"><button>go</button></form>`;
      await visit.page.goto(foreign);
      await visit.page.getByText("go").click();
      await visit.page.getByText("was not sent by a page of this server").waitFor();
      expect(await visit.page.context().cookies()).toHaveLength(1);
    });

    test("a link with somebody else's token asks first", async () => {
      const other = await site.token();
      await using visit = await browser.visit();
      await visit.page.goto(`${target()}/#token=${token}`);
      await seesHome(visit);
      body = `<a href="${target()}/#token=${other}">look</a>`;
      await visit.page.goto(foreign);
      await visit.page.getByText("look").click();
      await visit.page.getByText("You are signed in here already").waitFor();
      expect((await visit.page.context().cookies())[0]?.value).toBe(token);
    });

    test("nothing is framed", async () => {
      await using visit = await browser.visit();
      body = `<iframe src="${target()}/sign-in"></iframe>`;
      await visit.page.goto(foreign);
      await eventually(() => visit.faults.join().includes("frame-ancestors") || undefined, "the refusal");
      const shown = await eventually(() => visit.page.frames()[1]?.url() || undefined, "a frame");
      expect(shown).toBe("chrome-error://chromewebdata/");
    });
  });

  test("under TLS it is a cookie of TLS alone", async () => {
    const secured = new Site();
    try {
      secured.configure({ api: 'tls = "self-signed"' });
      const own = await secured.token();
      const server = await secured.run();
      await using visit = await browser.visit();
      await visit.page.goto(`${server.origin}/#token=${own}`);
      await seesHome(visit);
      expect(await visit.page.context().cookies()).toMatchObject([
        {
          name: `__Host-lintel-${new URL(server.origin).port}`,
          secure: true,
          httpOnly: true,
          sameSite: "Strict",
        },
      ]);
      await visit.page.getByRole("button", { name: "Sign out" }).click();
      await visit.page.getByLabel("Access token").waitFor();
      expect(await visit.page.context().cookies()).toEqual([]);
      expect(visit.faults).toEqual([]);
      await server.stop();
    } finally {
      await secured.remove();
    }
  });
});
