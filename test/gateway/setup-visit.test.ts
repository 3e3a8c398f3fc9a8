import { expect, test } from "bun:test";
import { Type } from "@sinclair/typebox";
import type { Driver, Host, JoinEvent } from "../../drivers/driver.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { AttachedDriver } from "../../src/gateway/attached-drivers.ts";
import { Joining } from "../../src/gateway/joining/joining.ts";
import { SetupVisit } from "../../src/gateway/joining/setup-visit.ts";
import { NameTaken } from "../../src/store/inventory/given-names.ts";
import { keptLog, start_ms } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

const clock = new SettableClock(start_ms);
const { log } = keptLog();

/** A visit, the page that it opened joining from, and what may happen meanwhile. */
async function visiting(
  nameItem: (giving: { name?: string | undefined }) => Promise<unknown> = async () => {},
) {
  const driver: Driver = {
    ...{ start: () => {}, stop: async () => {}, openJoining: async () => {}, closeJoining: async () => {} },
    status: () => ({ state: "listening", since_ms: 0, detail: "" }),
  };
  const definition = { name: "doors", section: Type.Object({}), create: () => driver };
  const attached = new AttachedDriver({ definition, config: {}, host: {} as Host, clock, log });
  const joining = new Joining({ drivers: () => [attached], clock, log, changed: () => {} });
  const claimed = {
    known: { address: "b" },
    claimed: { address: "b" },
    why: "",
    first_ms: 5,
    last_ms: 5,
    count: 1,
  };
  const identities = { changes: 0, conflicts: () => [claimed] as never, settle: async () => {} };
  const store = { nameItem: nameItem as never, replaceItem: nameItem as never };
  const visit = new SetupVisit({ joining, identities, store, clock, lines: [] });
  const open = async () => {
    visit.open();
    while (!joining.isOpen) await Promise.resolve();
  };
  await open();
  const what = {
    started: (address: string) => ({ state: "started", address }),
    joined: (address: string) => ({ state: "joined", device: { kind: "wirelesssensors", address } }),
    failed: (address: string) => ({ state: "failed", address, reason: `${address} is far`, remedy: "" }),
  };
  const acts: Record<string, (of: string) => Promise<unknown>> = {
    open,
    close: () => visit.close(),
    settle: (address) => visit.settle({ address, first_ms: 5 }, "accepted", "lea"),
  };
  return {
    visit,
    /** `started a`, `joined a`, `failed a`, `settle b`, `close`, `open`. */
    happens: async (text: string) => {
      const [word = "", of = ""] = text.split(" ");
      if (word in acts) await acts[word]?.(of);
      else joining.note(what[word as keyof typeof what](of) as JoinEvent);
    },
  };
}

test.each([
  ["a device begins", ["started a"], "a", ""],
  ["a device is in", ["started a", "joined a"], "", ""],
  ["one of two is in", ["started a", "started b", "joined b"], "a", ""],
  ["a device begins twice", ["started a", "started b", "started a"], "b a", ""],
  ["a device fails", ["started a", "failed a"], "", "a"],
  ["a device fails twice", ["failed a", "failed b", "failed a"], "", "b a"],
  ["one that failed begins again", ["failed a", "started a"], "a", "a"],
  ["one that failed comes in at last", ["failed a", "failed b", "started a", "joined a"], "", "b"],
  ["joining ends", ["started a", "failed b", "close"], "", "b"],
  ["joining is opened anew", ["failed a", "close", "open"], "", ""],
  ["a person accepts one of two", ["failed a", "failed b", "settle b"], "", "a"],
  ["a person accepts one that claims nothing", ["failed a", "failed b", "settle a"], "", "a b"],
])(
  "the page of a visit shows what is under way, and what failed and is not in: %s",
  async (_, steps, started, failed) => {
    const { visit, happens } = await visiting();
    for (const step of steps) {
      const { changes } = visit;
      const before = JSON.stringify(visit.state);
      await happens(step);
      if (JSON.stringify(visit.state) !== before) expect(visit.changes).toBeGreaterThan(changes);
    }
    expect(visit.state.started.join(" ")).toBe(started);
    expect(visit.state.failed.map(({ address }) => address).join(" ")).toBe(failed);
    expect(visit.state).toMatchObject({ problem: null, unnamed: null });
  },
);

test("a name that something else has gets the next number; what hinders a name is told until one is given", async () => {
  const taken = new Set(["Hall", "Hall 2"]);
  const given: string[] = [];
  const { visit } = await visiting(async ({ name = "" }) => {
    if (taken.has(name)) throw new NameTaken(`${name} is taken`, "take another");
    if (name === "Loft") throw new OperatorError("it is not known", "pair it");
    given.push(name);
  });
  expect(await visit.name("a", { name: "Loft", room: "" })).toBe(false);
  expect(visit.state.unnamed).toEqual({ address: "a", why: expect.stringContaining("it is not known") });
  expect(await visit.name("a", { name: " ", room: "" })).toBe(false);
  expect(visit.state.unnamed?.why).toContain("the name is empty");
  expect(await visit.name("a", { name: "Hall", room: " Hall " })).toBe(true);
  expect(visit.state.unnamed).toBeNull();
  expect(given).toEqual(["Hall 3"]);
});
