import { expect, test } from "bun:test";
import { fill } from "../../../testbed/programme.ts";
import { now_ms, serve } from "../../../testbed/serving.ts";

test("a gateway answers nothing for a use that its home does not allow, also of pages that it remembers", async () => {
  await using serving = await serve({ home: 12 });
  await fill(serving.store);
  const start = now_ms / 1000 - 60;
  const consent = { homeid: null, use: "coded", answer: "refused", start: Math.floor(start), stop: null };
  await serving.store.importRecords([
    [{ type: "consents", record: { consentid: 9, subjectid: 1, ...consent } }],
  ]);
  const asked = async (path: string, uses?: string) => {
    const named: Record<string, string> = uses === undefined ? {} : { "lintel-uses": uses };
    const authorization = `bearer ${serving.tokens.read}`;
    const answer = await serving.ask(path, {
      headers: { authorization, accept: "application/json", ...named },
    });
    return [answer.status, await answer.json()] as const;
  };
  const page = "/items/wirelesssensors/wall/events";
  for (const time of ["first", "again"]) {
    const [status, records] = await asked(page);
    expect([time, status, (records as unknown[]).length > 0]).toEqual([time, 200, true]);
    expect(await asked(page, "identified,shared")).toEqual([200, records]);
    expect((await asked(page, "shared, coded"))[0]).toBe(404);
    expect(await asked("/homes/", "coded")).toEqual([200, []]);
  }
  expect((await asked("/token", "coded"))[1]).toMatchObject({ leftout: [0] });
  expect((await asked("/token", "shared"))[1]).toMatchObject({ leftout: [] });
});
