import { afterEach, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, Site } from "../../testbed/front-door.ts";
import { inHome } from "../../testbed/uploading.ts";

const sites: Site[] = [];
afterEach(async () => {
  for (const site of sites.splice(0)) await site.remove();
});

function newSite(): Site {
  const site = new Site();
  sites.push(site);
  return site;
}

test("a box does what the study has signed for it, refuses all else, hears of a pause at once, and tells the family", async () => {
  const [site, at] = [newSite(), newSite()];
  const store = ["--data", at.data];
  await at.token();
  const programme = { site: at, central: await at.central(...store) };
  const keyFile = join(at.directory, "study.key");
  const { key } = await at.answer("remote", "key", keyFile, "--json");
  const stick = await site.simulator("zigbee");
  const allow = [
    "status",
    "fault-report",
    "restart-driver",
    "upload",
    "open-joining",
    "mesh-scan",
    "set-ring",
  ];
  site.configure({
    sections: `${stick.section}\n${await inHome(12, site, programme)}\n[remote]\nallow = ${JSON.stringify(allow)}\nkeys = ["${key}"]`,
  });
  const gateway = await site.run();
  await site.listening();

  /** Signs on one machine and sends on another. */
  const ask = async (...requests: string[][]) => {
    const signed = [];
    for (const words of requests)
      signed.push((await at.lintel("remote", "sign", "12", ...words, "--key", keyFile)).out);
    const file = join(at.directory, "requests");
    writeFileSync(file, signed.join("\n"));
    const sent = await at.lintel("remote", "send", file, ...store, "--json");
    return sent.out.split("\n").map((line) => JSON.parse(line));
  };
  const [status, report, uploaded, restarted] = await ask(
    ["status"],
    ["fault-report"],
    ["upload"],
    ["restart-driver", "zigbee"],
  );
  expect(status).toMatchObject({ home: 12, request: "status", outcome: "done" });
  expect(JSON.parse(status.answer).drivers).toMatchObject([{ name: "zigbee", state: "listening" }]);
  expect(report).toMatchObject({ outcome: "done" });
  expect(JSON.parse(report.answer)).toMatchObject({ report: "lintel fault 1", log: expect.any(Array) });
  expect(uploaded).toMatchObject({ outcome: "done", words: "uploaded" });
  expect(restarted).toMatchObject({ outcome: "done" });
  await site.listening();
  const failed = { outcome: "failed" };
  expect(
    await ask(["open-joining", "1"], ["restart-driver", "ble"], ["blink"], ["set-ring", "5"]),
  ).toMatchObject([
    { outcome: "done" },
    { ...failed, words: expect.stringContaining("this box has no driver ble") },
    { outcome: "refused", words: "[remote] allow does not have it" },
    { ...failed, words: expect.stringContaining("[update]") },
  ]);
  expect(await site.answer("status", "--json", "--data", site.data)).toMatchObject({ joining: true });

  expect(await at.answer("pause", "--home", "12", "--json", ...store)).toMatchObject({ home: 12 });
  await eventually(async () => {
    const { paused } = await site.answer("status", "--json", "--data", site.data);
    return paused ? true : undefined;
  }, "the pause without an upload");

  const here = await site.answer("remote", "list", "--json", "--data", site.data);
  const there = await at.answer("remote", "list", "--home", "12", "--json", ...store);
  expect(here).toHaveLength(8);
  expect(there).toHaveLength(8);
  const token = await site.token();
  const page = await pageOf(gateway.origin, "/recorded", token);
  for (const words of ["send a technical report that names nobody", "let its lamp blink", "It refused."])
    expect(page).toContain(words);
  expect(await gateway.stop()).toBe(0);
});

async function pageOf(origin: string, path: string, token: string): Promise<string> {
  const signedIn = await fetch(`${origin}/sign-in`, {
    method: "POST",
    body: new URLSearchParams({ token, next: path }),
    headers: { origin },
    redirect: "manual",
  });
  const cookie = signedIn.headers.get("set-cookie")?.split(";")[0] ?? "";
  return await (await fetch(`${origin}${path}`, { headers: { cookie, accept: "text/html" } })).text();
}
