import { expect, test } from "bun:test";
import { StoreOutage } from "../../../src/base/errors.ts";
import { lineLog } from "../../../src/base/log.ts";
import { StoreOutages } from "../../../src/web/server/refusals.ts";
import { SettableClock } from "../../../testbed/settable-clock.ts";

test("an outage of a part is named once and over once, however many requests of others go well meanwhile", async () => {
  const { outages, lines, clock } = logged();
  const { part, over } = partOf("worker 10.0.0.2:5432");
  for (let request = 0; request < 40; request += 1) {
    const { body, headers } = outages.met(outageOf(part), request % 2 === 0 ? "POST" : "GET");
    expect([body.code, headers]).toEqual([50302, { "Retry-After": "4" }]);
    outages.passed("POST");
    outages.passed("GET");
    clock.advance(1_000);
  }
  const named = "error worker 10.0.0.2:5432 of database lintel is away: start it";
  expect(lines).toEqual([named]);
  const answered_ms = clock.now().monotonic_ms;
  clock.advance(15_000);
  over(answered_ms);
  await part.back;
  expect(lines).toEqual([
    named,
    "info  worker 10.0.0.2:5432 works again after 40 s, in which 40 requests were refused",
  ]);
});

test("outages of two parts, and one of the whole store, are told apart", async () => {
  const { outages, lines, clock } = logged();
  const [one, other] = [partOf("worker 10.0.0.2:5432"), partOf("worker 10.0.0.3:5432")];
  outages.met(outageOf(one.part), "POST");
  outages.met(outageOf(other.part), "POST");
  outages.met(new StoreOutage("database lintel went away", "wait", "unreachable"), "POST");
  clock.advance(3_000);
  outages.passed("POST");
  one.over(3_000);
  await one.part.back;
  expect(lines.slice(3)).toEqual([
    "info  the store works again after 3 s, in which 1 request was refused",
    "info  worker 10.0.0.2:5432 works again after 3 s, in which 1 request was refused",
  ]);
});

test("the same part away once more is another outage", async () => {
  const { outages, lines } = logged();
  for (const time of [1, 2]) {
    const { part, over } = partOf("worker 10.0.0.2:5432");
    outages.met(outageOf(part), "POST");
    over(time);
    await part.back;
  }
  expect(lines.map((line) => line.slice(0, 5))).toEqual(["error", "info ", "error", "info "]);
});

function logged() {
  const clock = new SettableClock(0);
  const lines: string[] = [];
  const log = lineLog({ write: (line) => void lines.push(line.slice(25).trimEnd()), clock });
  return { outages: new StoreOutages({ clock, log }), lines, clock };
}

function partOf(name: string) {
  const { promise: back, resolve: over } = Promise.withResolvers<number>();
  return { part: { name, back }, over };
}

function outageOf(part: StoreOutage["part"]): StoreOutage {
  return new StoreOutage(`${part?.name} of database lintel is away`, "start it", "unreachable", { part });
}
