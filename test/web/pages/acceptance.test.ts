import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { mkdirSync } from "node:fs";
import { signedJson } from "../../../src/base/signed-json.ts";
import type { KeptAcceptance } from "../../../src/domain/acceptance.ts";
import { acceptancesBytes, acceptancesFile } from "../../../src/domain/acceptance-file.ts";
import { keepFiles } from "../../../src/transfer/kept-files.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { singly, VisitedHome } from "../../gateway/acceptance/visit-home.ts";
import { type HomesCentral, serveHomes, signIn } from "./homes-central.ts";

/** Where screenshots go; none are taken without it. */
const pictures = process.env["LINTEL_PICTURES"];
const key = generateKeyPairSync("ed25519").privateKey;

let served: HomesCentral;
let records: readonly KeptAcceptance[];
beforeAll(async () => {
  served = await serveHomes();
  await using visited = await VisitedHome.make();
  for (const name of singly) await visited.try(name);
  const failed = await visited.acceptances.complete("Ann Lee");
  await visited.walk("there", ["hall1", "hall2", "hall3"]);
  await visited.walk("back", ["hall3", "hall2", "hall1"]);
  const passed = await visited.acceptances.complete("Ann Lee");
  const [first, second] = [failed, passed].map(({ signed }) => ({ ...signedJson(signed, key), nights: [] }));
  if (first === undefined || second === undefined) throw new Error("no records");
  const night = {
    ...({ format: "lintel first night 1", number: 2, acceptance: second.signature } as const),
    ...{ since: second.signed.finished, until: second.signed.finished + 54_000, lateframes: 0 },
    coverage: second.signed.devices.map(({ itemname }) => ({ itemname, covered: 0.99 })),
    ...{ clockoffset: 4, commit: 25, good: true, faults: [] },
  };
  records = [{ ...second, nights: [signedJson(night, key)] }, first];
  const files = new Map([[acceptancesFile, acceptancesBytes(records)]]);
  await keepFiles(served.central.store, 3, files);
  // What a box sends later takes nothing away.
  await keepFiles(served.central.store, 3, new Map([[acceptancesFile, acceptancesBytes([])]]));
});
afterAll(() => served[Symbol.asyncDispose]());

async function read(path: string): Promise<string> {
  const text = await (await served.page(path, await served.mint("read"))).text();
  return text.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
}

test("central shows whether a home was accepted and how its first night was, with every device and both walks", async () => {
  const text = await read("/homes/3/acceptance");
  for (const words of [
    "Accepted, first night good.",
    "Ann Lee",
    "Hall 3, Hall 2, Hall 1, in 2.0 s",
    "3 readings sent to https://central.example; no day differs",
    "at least 99 % of the time of each device is covered",
    "Open the door, and close it again. Asked",
  ])
    expect(text).toContain(words);
});

test("an earlier record stays as it was, with its faults", async () => {
  const text = await read("/homes/3/acceptance?number=1");
  expect(text).toContain(
    "Not accepted, for several reasons. The first: The walk along Hall from Hall 1 was not tried. This record is no longer the newest: number 2, accepted .",
  );
  expect(await read("/homes/5/acceptance")).toContain("Nobody has accepted this home yet.");
  const token = await served.mint("read");
  expect((await served.page("/homes/3/acceptance?number=9", token)).status).toBe(422);
  expect((await served.page("/homes/999/acceptance", token)).status).toBe(404);
});

test("the interface serves the records as their box signed them, to tokens of the home alone", async () => {
  const ask = (token: string) =>
    fetch(`${served.central.origin}/v0.9/homes/3/acceptances/`, {
      headers: { Authorization: `bearer ${token}`, Accept: "application/json" },
    });
  expect(await (await ask(await served.mint("read"))).json()).toEqual(records as never);
  const foreign = await served.mint("read", { homes: [4], projects: [], studies: [] });
  expect((await ask(foreign)).status).toBe(404);
});

describe.skipIf(chromiumPath === undefined)(`in a browser (${noChromium})`, () => {
  test("nothing goes over the edge of a narrow screen, and it prints on one page", async () => {
    await using browser = await TestBrowser.start();
    for (const width of [320, 390, 768, 1280]) {
      await using visit = await browser.visit({ viewport: { width, height: 900 } });
      const { page, faults } = visit;
      await signIn(visit, served);
      await page.goto(`${served.central.origin}/homes/3/acceptance`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      // Room for what was asked and done, in words.
      const task = await page.locator('.acceptance [data-label="Task"] span').first().boundingBox();
      expect(task?.width).toBeGreaterThan(170);
      const print = await page.pdf({ preferCSSPageSize: true });
      expect(print.toString("latin1").match(/\/Type\s*\/Page\b/g)).toHaveLength(1);
      if (pictures !== undefined) {
        mkdirSync(pictures, { recursive: true });
        await page.screenshot({ path: `${pictures}/acceptance-${width}.png`, fullPage: true });
        await page.goto(`${served.central.origin}/homes/3/acceptance?number=1`);
        await page.screenshot({ path: `${pictures}/acceptance-failed-${width}.png`, fullPage: true });
        await page.setViewportSize({ width: 794, height: 1_123 });
        await page.emulateMedia({ media: "print" });
        await page.screenshot({ path: `${pictures}/acceptance-print.png` });
      }
      expect(faults).toEqual([]);
    }
  });
});
