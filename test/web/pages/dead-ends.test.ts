import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { doorPage, fillDoor, now_ms, zone } from "./device-history.ts";
import { ownForm, type PagesServer, servePages } from "./pages-server.ts";

/** `walk.test.ts` has the errors of forms of a visit, and `walk-later.test.ts` a gateway without a radio. */
describe.skipIf(chromiumPath === undefined)(`who is refused goes on in Chromium (else ${noChromium})`, () => {
  let server: PagesServer;
  let browser: TestBrowser;
  beforeAll(async () => {
    server = await servePages({ now_ms, site: { zoneOf: async () => zone } });
    await fillDoor(server.store);
    browser = await TestBrowser.start();
  });
  afterAll(async () => {
    await browser[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  async function signedIn(token: string) {
    const visit = await browser.visit({ locale: "en-GB" });
    await visit.page.goto(`${server.origin}/sign-in#token=${token}`);
    await visit.page.waitForURL(`${server.origin}/`);
    return visit;
  }

  test.each([
    [`${doorPage}?span=9w`, "Span must be one of 1d, 1w, 4w, 8w, 1y."],
    ["/day?date=2027-01-01", "Date must be a past date such as 2026-11-03."],
  ])("from %s, which it is told, to the page without what was wrong", async (path, words) => {
    await using visit = await signedIn(server.tokens.read);
    const { page } = visit;
    await page.goto(server.origin + path);
    expect(await page.textContent("h1")).toBe(words);
    await page.getByRole("link", { name: "open the page without it" }).click();
    await page.waitForURL(({ pathname, search }) => pathname === path.split("?")[0] && search === "");
    await page.locator(".answer").waitFor();
  });

  test("from a note that ends before it begins to the end of it, with all that was written", async () => {
    await using visit = await signedIn(server.tokens.admin);
    const { page } = visit;
    await page.goto(`${server.origin}/day?date=2026-11-19`);
    await page.getByText("Note something").click();
    await page.getByLabel("Visitor").check();
    await page.fill('.notes [name="from"]', "2026-11-19T15:00");
    await page.fill('.notes [name="until"]', "2026-11-19T11:00");
    await page.fill('.notes [name="words"]', "Her sister");
    await page.getByRole("button", { name: "Note it" }).click();
    expect(await page.locator('.notes [name="until"]:invalid').count()).toBe(1);
    expect(await page.inputValue('.notes [name="words"]')).toBe("Her sister");
    await page.fill('.notes [name="until"]', "2026-11-19T17:00");
    await page.getByRole("button", { name: "Note it" }).click();
    await page.locator(".notes li", { hasText: "Her sister" }).waitFor();
  });

  test("back to the form, where a browser without script has sent such a note", async () => {
    const cookie = { Cookie: `${server.cookieName}=${server.tokens.admin}` };
    const note = { home: "12", kind: "visitor", from: "2026-11-19T15:00", until: "2026-11-19T11:00" };
    const refused = await server.send("/notes", note, { ...ownForm, ...cookie });
    expect(refused.status).toBe(422);
    const text = await refused.text();
    expect(text).toContain("<h1>Until must be a time that is not before the beginning");
    expect(text).toContain("Go back to the form, and correct it.");
    // At the address of the form there is no page.
    expect(text).not.toContain('href="?"');
  });

  test("from an address at which there is nothing to the first page", async () => {
    await using visit = await signedIn(server.tokens.read);
    const { page } = visit;
    await page.goto(`${server.origin}/devices/wirelesssensors/nobody`);
    expect(await page.textContent(".refusal")).toContain("have another name");
    await page.getByRole("link", { name: "To the first page" }).click();
    await page.waitForURL(`${server.origin}/`);
  });
});
