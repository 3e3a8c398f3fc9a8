import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";
import { signedJson } from "../../../src/base/signed-json.ts";
import type { BurnInRecord } from "../../../src/domain/burn-in.ts";
import { burnInFile } from "../../../src/domain/burn-in-file.ts";
import { chromiumPath, noChromium, TestBrowser } from "../../../testbed/browser.ts";
import { type HomesCentral, now_ms, serveHomes, signIn } from "./homes-central.ts";

const results: BurnInRecord["results"] = {
  disk: {
    outcome: "failed",
    at_ms: now_ms,
    found:
      "After the power cut of round 2 the disk lacked the last 1 of 2,154 blocks that it had acknowledged.",
  },
  power: {
    outcome: "skipped",
    at_ms: now_ms,
    found: "this machine does not tell whether its power supply is too weak.",
  },
  stick: {
    outcome: "passed",
    at_ms: now_ms,
    found: "After its stick was plugged in again, [zigbee] listened.",
  },
};
const record: BurnInRecord = {
  ...{ format: "lintel burn-in 1", version: "1.0.0", begun_ms: now_ms - 3_600_000, ended_ms: now_ms },
  ...{ hardware: { sticks: [] }, results },
};
const signed = signedJson(record, generateKeyPairSync("ed25519").privateKey);

let served: HomesCentral;
beforeAll(async () => {
  served = await serveHomes();
  const put = (home: number, value: object) =>
    served.central.store.putBackup(home, burnInFile, new TextEncoder().encode(JSON.stringify(value)));
  await put(3, signed);
  await put(4, { ...signed, signed: { ...record, results: {} } });
});
afterAll(() => served[Symbol.asyncDispose]());

async function read(home: number): Promise<string> {
  const text = await (await served.page(`/homes/${home}/burn-in`, await served.mint("read"))).text();
  return text.replaceAll(/<[^>]+>/g, " ").replaceAll(/\s+/g, " ");
}

test("central shows what each check of a burn-in found, and the remedy of what failed", async () => {
  const text = await read(3);
  for (const words of [
    "This box may not go to a home. Failed: Disk. Skipped: Power supply.",
    "the disk lacked the last 1 of 2,154 blocks that it had acknowledged. Put in another card",
    "Power supply skipped : this machine does not tell",
    `Signed by the key ${signed.key}`,
  ])
    expect(text).toContain(words);
});

test("a record that was changed is none, and neither has a home without one", async () => {
  for (const home of [4, 5])
    expect(await read(home)).toContain("Nobody has tested the hardware of this box yet.");
  expect((await served.page("/homes/999/burn-in", await served.mint("read"))).status).toBe(404);
});

describe.skipIf(chromiumPath === undefined)(`in a browser (${noChromium})`, () => {
  test("nothing goes over the edge of a narrow screen", async () => {
    await using browser = await TestBrowser.start();
    for (const width of [320, 1280]) {
      await using visit = await browser.visit({ viewport: { width, height: 900 } });
      const { page, faults } = visit;
      await signIn(visit, served);
      await page.goto(`${served.central.origin}/homes/3/burn-in`);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      expect(faults).toEqual([]);
    }
  });
});
