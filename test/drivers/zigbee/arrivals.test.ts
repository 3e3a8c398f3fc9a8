import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { type Adapter, Arrivals, held_events_max } from "../../../drivers/zigbee/arrivals.ts";
import { SystemClock } from "../../../src/base/clock.ts";
import { lineLog } from "../../../src/base/log.ts";

const clock = new SystemClock();

type Leave = { networkAddress: number };

function arrivals() {
  const adapter = new EventEmitter();
  const lines: string[] = [];
  const drops: [string, number][] = [];
  const log = lineLog({ write: (line) => lines.push(line.trim()), clock, journal: true });
  const made = new Arrivals({ clock, log, dropped: (what, count) => drops.push([what, count]) });
  made.listenTo(adapter as Adapter);
  const heard: unknown[] = [];
  adapter.on("deviceLeave", ({ networkAddress }: Leave) => heard.push(networkAddress));
  const tell = (networkAddress: number) => adapter.emit("deviceLeave", { networkAddress });
  return { adapter: adapter as Adapter, arrivals: made, heard, tell, lines, drops };
}

test("what comes while an adapter starts is held up to a bound, and what is beyond it is counted and said", () => {
  const { adapter, arrivals: all, heard, tell, lines, drops } = arrivals();
  for (let number = 1; number <= held_events_max + 5; number += 1) tell(number);
  expect(heard).toEqual([]);
  all.release(adapter);
  expect(heard).toEqual(Array.from({ length: held_events_max }, (_, index) => index + 1));
  expect(drops).toEqual([["zigbee messages while the adapter was starting", 5]]);
  expect(lines).toEqual([
    "<4>5 Zigbee messages are lost: more than 10000 came while the adapter was starting",
  ]);
  tell(7);
  expect(heard.at(-1)).toBe(7);
});

test("what came before a start that failed is thrown away and counted", () => {
  const { adapter, arrivals: all, heard, tell, drops } = arrivals();
  tell(1);
  tell(2);
  all.discard();
  all.release(adapter);
  expect(heard).toEqual([]);
  expect(drops).toEqual([["zigbee messages while the adapter was starting", 2]]);
});

test("one message that cannot be read takes none of those behind it along", () => {
  const { adapter, arrivals: all, heard, tell, lines } = arrivals();
  adapter.prependListener("deviceLeave", ({ networkAddress }: Leave) => {
    if (networkAddress === 1) throw new Error("no sense in it");
  });
  tell(1);
  tell(2);
  all.release(adapter);
  expect(heard).toEqual([2]);
  expect(lines).toEqual(["<4>a Zigbee message that came while the adapter was starting: no sense in it"]);
});
