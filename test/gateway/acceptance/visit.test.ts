import { afterAll, expect, test } from "bun:test";
import { isAsSigned } from "../../../src/base/signed-json.ts";
import type { KeptAcceptance } from "../../../src/domain/acceptance.ts";
import { lintelHere } from "../../../testbed/command-here.ts";
import { eventually, Site } from "../../../testbed/front-door.ts";
import { inHome } from "../../../testbed/uploading.ts";

const [site, at] = [new Site({ commands: lintelHere }), new Site({ commands: lintelHere })];
afterAll(() => Promise.all([site.remove(), at.remove()]));

test("a visit uploads, is signed, and central has its record at once", async () => {
  await at.token();
  const central = await at.central("--data", at.data);
  const stick = await site.simulator("zigbee");
  site.configure({ sections: `${stick.section}\n${await inHome(12, site, { site: at, central })}` });
  const gateway = await site.run();
  await site.listening();
  const { ieee } = (await stick.tell({ do: "add", model: "3041" })) as { ieee: string };
  const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
  await pair.line();
  await stick.tell({ do: "join", ieee });
  for (let state = ""; state !== "joined"; ) state = JSON.parse((await pair.line()) ?? "{}").state;
  pair.kill("SIGINT");
  await pair.exited;

  const admin = await site.token("--scope", "admin");
  const { origin, port } = new URL(gateway.url);
  const send = (path: string, fields: Record<string, string>) =>
    fetch(origin + path, {
      method: "POST",
      redirect: "manual",
      headers: { Cookie: `lintel-${port}=${admin}`, "Sec-Fetch-Site": "same-origin" },
      body: new URLSearchParams(fields),
    });
  expect((await send("/walk/try", { of: ieee })).status).toBe(303);
  await stick.tell({ do: "notify", ieee, status: 0x32 });
  const reading = await site.token();
  await eventually(async () => {
    const path = `/items/wirelesssensors/wirelesssensor-${ieee.replaceAll(":", "")}/events`;
    return (await gateway.records<object[]>(path, reading)).length > 0 ? true : undefined;
  }, "the motion on disk");
  expect((await send("/walk/finish", { tester: "Ann Lee" })).status).toBe(303);

  const recordAt = (server: typeof gateway, token: string) =>
    eventually(async () => {
      const found = await server.records<KeptAcceptance[]>("/homes/12/acceptances/", token).catch(() => []);
      return found[0];
    }, "a record");
  const record = await recordAt(gateway, reading);
  expect(isAsSigned(record)).toBe(true);
  expect(record.signed).toMatchObject({ number: 1, tester: "Ann Lee", homeid: 12 });
  expect(record.signed.upload).toMatchObject({ url: central.origin, differingdays: 0, failure: null });
  expect(record.signed.upload.sent).toBeGreaterThan(0);
  expect(record.signed.devices).toMatchObject([{ task: "motion", done: expect.any(Number) }]);
  expect(record.signed.faults).toEqual([]);
  expect(await recordAt(central, await at.token())).toEqual(record);
  const [home] = (await at.answer("fleet", "--all", "--json", "--data", at.data)) as unknown as object[];
  expect(home).toMatchObject({ acceptance: { number: 1, faults: [] } });
});
