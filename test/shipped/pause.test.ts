import { afterEach, expect, test } from "bun:test";
import { byCommand, eventually, Site } from "../../testbed/front-door.ts";
import { MarkedHomes, marksIn } from "./erasing.ts";

const ending: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of ending.splice(0)) await one[Symbol.asyncDispose]();
});

test("a gateway that is paused hears its sensor and keeps nothing of it, says so to the family, and records again when it is resumed", async () => {
  const site = new Site();
  ending.push({ [Symbol.asyncDispose]: () => site.remove() });
  const stick = await site.simulator("zigbee");
  site.configure({ sections: `${stick.section}\n[home]\nmay_pause = true\n` });
  const gateway = await site.run();
  const token = await site.token();
  await site.listening();
  const { ieee } = (await stick.tell({ do: "add", model: "3041" })) as { ieee: string };
  const name = `wirelesssensor-${ieee.replaceAll(":", "")}`;
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  await stick.tell({ do: "join", ieee });
  await pair.line();
  pair.kill("SIGINT");
  await pair.exited;
  const events = async () => {
    const found = await gateway.events(name, token).catch(() => []);
    return found.map(({ event }) => event);
  };
  const status = () => site.answer("status", "--json", "--data", site.data);
  await stick.tell({ do: "notify", ieee, status: 0x31 });
  await eventually(async () => ((await events())[0] === 0x31 ? true : undefined), "the first event");
  expect(await site.answer("pause", "--json", "--data", site.data)).toMatchObject({ until_ms: null });
  await stick.tell({ do: "notify", ieee, status: 0x32 });
  await eventually(
    async () => ((await status()).store.dropped["while recording was paused"] >= 1 ? true : undefined),
    "the count of what was not kept",
    byCommand,
  );
  expect(await status()).toMatchObject({ pauses: [{ before_ms: Number.MAX_SAFE_INTEGER }] });
  const signedIn = await fetch(`${gateway.origin}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ token, next: "/recorded" }),
    headers: { origin: gateway.origin },
    redirect: "manual",
  });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  const page = await fetch(`${gateway.origin}/recorded`, { headers: { cookie, accept: "text/html" } });
  expect(await page.text()).toContain("Recording has been paused since");
  expect(await site.answer("resume", "--json", "--data", site.data)).toMatchObject({ resumed: true });
  await stick.tell({ do: "notify", ieee, status: 0x33 });
  await eventually(async () => ((await events())[0] === 0x33 ? true : undefined), "the event after it");
  expect((await events()).includes(0x32)).toBe(false);
  // The people of the home do the same on the page, and an open page says so by itself.
  const press = async (fields: Record<string, string>) => {
    const body = new URLSearchParams(fields);
    const headers = { cookie, origin: gateway.origin };
    const sent = await fetch(`${gateway.origin}/recorded/pause`, { method: "POST", body, headers });
    return sent.text();
  };
  await using open = await streamOf(`${gateway.origin}/live/recorded`, cookie);
  expect(await press({ for: "1 hour" })).toContain("Record again");
  await eventually(
    async () => (open.text.includes("until_ms") ? true : undefined),
    "the open page to say so",
  );
  expect((await status()).pauses).toHaveLength(1);
  expect(await press({ do: "resume" })).toContain("Pause for 1 hour");
  expect((await status()).pauses).toEqual([]);
  expect(await gateway.stop()).toBe(0);
});

test("a home that is paused at central is paused at its box with the next upload, and what the box had by then is in neither", async () => {
  const made = new MarkedHomes();
  ending.push(made);
  await made.start();
  await made.live(12, "EARLY12", 5);
  await made.upload(12);
  const paused = await made.run("pause", "--home", "12", "--json", ...made.store);
  expect(paused).toMatchObject({ home: 12, until_ms: null });
  const boxStatus = () => made.run("status", "--json", "--data", made.data(12));
  expect((await boxStatus()).pauses).toEqual([]);
  // A day later than those before, and a minute: surely in the pause.
  await made.live(12, "LATE12", 20, day_minutes + 1);
  expect(marksIn(made.bytesIn("box-12"), "LATE12").LATE12).toBeGreaterThan(0);
  const inFiles = `FILES12-${day_minutes + 1}`;
  expect(marksIn(made.bytesIn("box-12"), inFiles)[inFiles]).toBe(2);
  await made.upload(12);
  expect((await boxStatus()).pauses).toMatchObject([{ own: 0, from_ms: paused.from_ms }]);
  for (const bytes of [made.bytesIn("box-12"), made.bytesIn("central"), await made.served()])
    expect(marksIn(bytes, "LATE12", "EARLY12", inFiles)).toEqual({
      ...{ LATE12: 0, EARLY12: expect.any(Number) },
      [inFiles]: 0,
    });
  expect(marksIn(made.bytesIn("box-12"), "EARLY12").EARLY12).toBeGreaterThan(0);
  // What ends it at the box ends it at central.
  expect(await made.run("resume", "--json", "--data", made.data(12))).toMatchObject({ resumed: true });
  await made.upload(12);
  expect(await made.run("resume", "--home", "12", "--json", ...made.store)).toMatchObject({ resumed: false });
  expect(await made.upload(12, "verify")).toMatchObject({ differing_days: 0 });
});

test("a home whose consent is withdrawn, or whose enrollment ends, records nothing from then on, at its box too, until consent is given again", async () => {
  const made = new MarkedHomes();
  ending.push(made);
  await made.start();
  const boxStatus = (home: number) => made.run("status", "--json", "--data", made.data(home));
  // The box of home 13 learns of the end before it comes, and has no line to central when it does.
  const ends_s = Math.floor(Date.now() / 1000) + 3_600;
  const enrolled = { subjectid: 7, projectid: 1, homeid: 13, start: 1, stop: ends_s };
  await made.import({
    homes: [{ homeid: 13 }],
    subjects: [{ subjectid: 7 }],
    projects: [{ projectid: 1 }],
    project_enrollments: [enrolled],
  });
  for (const home of [12, 13]) {
    await made.live(home, `EARLY${home}`, 5);
    await made.upload(home);
  }
  expect((await boxStatus(13)).pauses).toMatchObject([{ why: "enrollment_ended", from_ms: ends_s * 1000 }]);
  await made.live(13, "LATE13", 20, day_minutes + 70);
  expect(marksIn(made.bytesIn("box-13"), "EARLY13", "LATE13")).toMatchObject({ LATE13: 0 });
  const { stopped } = await made.run("withdraw", "--home", "12", "--json", ...made.store);
  expect(stopped).toMatchObject([{ home: 12 }]);
  await made.live(12, "LATE12", 20, day_minutes + 1);
  await made.upload(12);
  for (const bytes of [made.bytesIn("box-12"), made.bytesIn("central"), await made.served()])
    expect(marksIn(bytes, "LATE12", "LATE13")).toEqual({ LATE12: 0, LATE13: 0 });
  expect(marksIn(made.bytesIn("central"), "EARLY12").EARLY12).toBeGreaterThan(0);
  // Neither a plain resume nor the box ends it.
  const said = async (...words: string[]) => (await made.site.lintel("resume", ...words)).said;
  expect(await said("--home", "12", ...made.store)).toContain("consent was withdrawn: lintel resume --again");
  expect(await said("--again", "--data", made.data(12))).toContain("stopped at central");
  expect(await made.run("resume", "--home", "12", "--again", "--json", ...made.store)).toMatchObject({
    resumed: true,
  });
  await made.upload(12);
  expect((await boxStatus(12)).pauses).toEqual([]);
  expect(await made.upload(12, "verify")).toMatchObject({ differing_days: 0 });
});

/** The text that an open page has been sent. */
async function streamOf(url: string, cookie: string): Promise<{ readonly text: string } & AsyncDisposable> {
  const ending = new AbortController();
  const { body } = await fetch(url, { headers: { cookie }, signal: ending.signal });
  let text = "";
  const reading = (async () => {
    for await (const part of body?.pipeThrough(new TextDecoderStream()) ?? []) text += part;
  })().catch(() => {});
  return {
    get text() {
      return text;
    },
    async [Symbol.asyncDispose]() {
      ending.abort();
      await reading;
    },
  };
}

const day_minutes = 1_440;
