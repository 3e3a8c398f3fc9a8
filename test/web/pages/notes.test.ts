import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Note } from "../../../src/domain/records/programme-records.ts";
import type { Noting } from "../../../src/web/pages/notes/notes-data.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { faultsForAll } from "./accessibility.ts";
import { doorPage, fillDoor, now_ms, zone } from "./device-history.ts";
import { ownForm, type PagesServer, servePages } from "./pages-server.ts";

/** A number that central has sent. */
const ofCentral = 7;
let server: PagesServer;
/** The same, where the people of the home may write notes. */
let open: PagesServer;
beforeAll(async () => {
  const noting = { ofCentral: async () => new Set([ofCentral]) };
  const site = { home: 12, zoneOf: async () => zone };
  server = await servePages({ now_ms, site: { ...site, noting: { ...noting, mayNote: false } } });
  open = await servePages({ now_ms, site: { ...site, noting: { ...noting, mayNote: true } } });
  await fillDoor(server.store);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await open[Symbol.asyncDispose]();
});

/** Berlin, where it is an hour later than in UTC. */
const form = { home: "12", kind: "visitor", from: "2026-11-18T16:00", until: "2026-11-19T09:00" };
const start = Date.UTC(2026, 10, 18, 15) / 1_000;

async function send(fields: Record<string, string>, token: string, at = server) {
  const headers = { ...ownForm, Cookie: `${at.cookieName}=${token}` };
  const { status } = await at.send("/notes", fields, headers);
  return status;
}

const notesOf = (at = server) => at.store.recordsOf("notes", 12);

async function noting(path: string, token = server.tokens.admin): Promise<Noting & { log?: object[] }> {
  const page = await (await server.page(path, token)).text();
  const { data } = JSON.parse(/id="shown">(.*)<\/script>/.exec(page)?.[1] ?? "{}");
  return { ...data.noting, log: data.log };
}

test("an administrator writes a note in the time of the home, and removes it; nobody else does", async () => {
  const { admin, read, sync, expired } = server.tokens;
  expect(await send(form, read)).toBe(403);
  const headers = { ...ownForm, Cookie: `${server.cookieName}=${read}` };
  expect(await (await server.send("/notes", form, headers)).text()).toMatch(
    /<h1>Writing notes needs a token of scope admin, or [^<]*\.<\/h1><p>To make one, run lintel token create NAME <span class="option">--scope<\/span> admin [^\n]*?\.<\/p>/,
  );
  for (const token of [sync, expired, "none"]) expect(await send(form, token)).toBe(401);
  expect(await notesOf()).toEqual([]);
  expect(await send({ ...form, words: " her son " }, admin)).toBe(303);
  const [note] = await notesOf();
  expect(note).toMatchObject({
    ...{ homeid: 12, itemid: null, kind: "visitor", words: "her son", source: "coordinator" },
    ...{ start, stop: start + 17 * 3_600, said: Math.floor(now_ms / 1_000) },
  });
  const remove = { home: "12", do: "remove", note: String(note?.noteid) };
  expect(await send(remove, read)).toBe(403);
  expect(await send(remove, admin)).toBe(303);
  expect(await notesOf()).toEqual([]);
});

test.each([
  [{ kind: "party" }, 422],
  [{ from: "yesterday" }, 422],
  [{ from: "2026-02-30T10:00" }, 422],
  [{ until: "2026-11-18T15:59" }, 422],
  [{ until: "" }, 303],
] as const)("a form with %p is answered with %p", async (fields, status) => {
  expect(await send({ ...form, ...fields }, server.tokens.admin)).toBe(status);
  for (const { noteid } of await notesOf())
    await server.store.changeNotes(12, { kept: [], removed: [noteid] });
});

test("the people of a home write notes where they may, and remove those of the home alone", async () => {
  const { read } = open.tokens;
  const page = await (await open.page("/recorded", read)).text();
  expect(page).toContain('action="/notes"');
  expect(await send(form, read, open)).toBe(303);
  const [own] = await notesOf(open);
  expect(own).toMatchObject({ source: "home" });
  const theirs = { ...(own as Note), noteid: 8, source: "coordinator" } as const;
  await open.store.changeNotes(12, { kept: [theirs], removed: [] });
  for (const note of [own?.noteid, theirs.noteid])
    await send({ home: "12", do: "remove", note: String(note) }, read, open);
  expect(await notesOf(open)).toEqual([theirs]);
  const foreign = await open.mint("read", undefined, { homes: [13], projects: [], studies: [] });
  expect(await send(form, foreign, open)).toBe(404);
});

test("what central has noted stays at a gateway", async () => {
  const note = { homeid: 12, itemid: null, subjectid: null, kind: "away", start, stop: null } as const;
  const kept: Note = { ...note, noteid: ofCentral, words: null, source: "coordinator", said: null };
  await server.store.changeNotes(12, { kept: [kept], removed: [] });
  await send({ home: "12", do: "remove", note: String(ofCentral) }, server.tokens.admin);
  expect(await notesOf()).toEqual([kept]);
  await server.store.changeNotes(12, { kept: [], removed: [ofCentral] });
});

test("a note is on each page of its time: on the strips, in the logbook, and at the device", async () => {
  await send({ ...form, words: "her son" }, server.tokens.admin);
  const [note] = await notesOf();
  const shown = { noteid: note?.noteid, kind: "visitor", from_ms: start * 1_000, words: "her son" };
  for (const path of ["/?span=week", "/day?date=2026-11-18", doorPage, "/recorded"]) {
    expect([path, (await noting(path)).notes]).toMatchObject([path, [{ ...shown, removable: true }]]);
    expect((await noting(path, server.tokens.read)).form).toBeNull();
  }
  for (const path of ["/?span=week", "/day?date=2026-11-18"])
    expect(await (await server.page(path, server.tokens.read)).text()).toMatch(/<rect class="note" x=/);
  const { log } = await noting("/day?date=2026-11-18");
  expect(log).toContainEqual({
    at_ms: start * 1_000,
    words: expect.stringMatching(/^Noted: visitors until .*09:00, her son$/),
  });
  expect((await noting("/day?date=2026-11-16")).notes).toEqual([]);
  await server.store.changeNotes(12, { kept: [], removed: [note?.noteid ?? 0] });
});

test("of more notes than a page has room for it shows the newest, the newest first", async () => {
  const of = (at: number): Note => ({
    ...{ noteid: 1_000 + at, homeid: 12, itemid: null, subjectid: null, kind: "visitor", words: null },
    ...{ start: start + at, stop: start + at + 1, source: "coordinator", said: start + at },
  });
  const kept = Array.from({ length: 201 }, (_, at) => of(at));
  await server.store.changeNotes(12, { kept, removed: [] });
  const newestFirst = kept
    .slice(1)
    .map(({ noteid }) => noteid)
    .reverse();
  expect((await noting("/day?date=2026-11-18")).notes.map(({ noteid }) => noteid)).toEqual(newestFirst);
  await server.store.changeNotes(12, { kept: [], removed: kept.map(({ noteid }) => noteid) });
});

test.skipIf(chromiumPath === undefined)(
  `whoever drags over days of a plot writes a note about them, which the plot then has (else ${noChromium})`,
  async () => {
    await using browser = await TestBrowser.start();
    await using visit = await browser.visit({ locale: "en-GB" });
    const { page } = visit;
    await page.goto(`${server.origin}/sign-in#token=${server.tokens.admin}`);
    await page.waitForURL(`${server.origin}/`);
    await page.goto(`${server.origin}${doorPage}?from=2026-11-02&until=2026-11-16`);
    await page.locator("canvas[data-layout]").waitFor();
    const box = await page.locator("canvas").boundingBox();
    const layout = JSON.parse((await page.getAttribute("canvas", "data-layout")) ?? "{}");
    const y = (row: number) => (box?.y ?? 0) + layout.top + (row + 0.5) * layout.rowHeight;
    const x = (box?.x ?? 0) + layout.left + 40;
    await page.mouse.move(x, y(1));
    await page.mouse.down();
    await page.mouse.move(x, y(3), { steps: 3 });
    await page.mouse.up();
    // The newest day is on top: rows 1 to 3 are 12 to 14 November.
    await page.locator('.notes [name="from"][value="2026-11-12T00:00"]').waitFor();
    expect(await page.inputValue('.notes [name="until"]')).toBe("2026-11-15T00:00");
    expect(await faultsForAll(page)).toEqual([]);
    await page.getByLabel("In hospital").check();
    await page.getByRole("button", { name: "Note it" }).click();
    await page.locator('canvas[data-notes="1"]').waitFor();
    await page.locator(".notes li", { hasText: "In hospital" }).waitFor();
    await page.locator(".drawing").first().focus();
    await page.keyboard.press("ArrowLeft");
    await page.getByRole("status").filter({ hasText: "noted: in hospital" }).waitFor();
    await page.getByRole("button", { name: "Remove" }).click();
    await page.locator('canvas[data-notes="0"]').waitFor();
    expect(visit.faults).toEqual([]);
  },
);
