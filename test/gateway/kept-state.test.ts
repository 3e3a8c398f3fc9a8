import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { LastStatuses } from "../../drivers/zigbee/last-status.ts";
import { day_ms } from "../../src/base/time.ts";
import { refusals_max } from "../../src/domain/fleet-home.ts";
import { noteAsk, visitIn } from "../../src/gateway/acceptance/visit-file.ts";
import { RemoteJournal } from "../../src/gateway/remote/remote-journal.ts";
import { noteStart, startsFile } from "../../src/gateway/starts.ts";
import { readState, withRefusal, writeState } from "../../src/gateway/update/update-state.ts";
import { below, numbers } from "../../testbed/numbers.ts";
import { keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

const now_ms = Date.UTC(2026, 10, 20, 12);
const pick = <One>(random: () => number, of: readonly One[]): One => of[below(random, of.length)] as One;

/** Something that lives in memory and in a file: does one thing of many, by chance. `kept` has what the memory tells, `found` what the next process reads. */
interface Keeper {
  readonly step: (random: () => number) => void;
  readonly kept: () => unknown;
  readonly found: () => unknown;
}

/** Whoever keeps state in a file of a gateway. A new one is one more row. */
const keepers: Readonly<Record<string, (directory: string) => Keeper>> = {
  "requests from afar": (directory) => {
    const journal = new RemoteJournal(directory);
    let number = 0;
    const told = ({ last, entries }: RemoteJournal) => [[...last], entries];
    return {
      step: (random) => {
        const entry = { number: ++number, request: "status", at_ms: now_ms + number };
        const outcome = pick(random, ["done", "failed"] as const);
        pick(random, [
          () => journal.admit(entry, pick(random, ["one key", "another key"])),
          () => journal.refuse([{ ...entry, outcome: "refused", words: "no" }]),
          () => journal.end(1 + below(random, number), { outcome, words: "so" }),
        ])();
      },
      kept: () => told(journal),
      found: () => told(new RemoteJournal(directory)),
    };
  },
  // Its file may lack a status, and never has another one.
  "statuses of zones": (directory) => {
    const clock = new SettableClock(now_ms);
    const { log } = keptLog();
    const statuses = new LastStatuses({ directory, clock, log });
    const addresses = ["aa", "bb", "cc"];
    const later = () => new LastStatuses({ directory, clock, log });
    return {
      step: (random) => {
        const address = pick(random, addresses);
        const zonestatus = pick(random, [0x30, 0x31]);
        pick(random, [
          () => statuses.set(address, { zonestatus, monotonic_ms: clock.now().monotonic_ms }),
          () => statuses.forget(address),
          () => clock.advance(45_000),
        ])();
      },
      kept: () => {
        const found = later();
        return addresses.map((one) => found.get(one) && statuses.get(one)?.zonestatus);
      },
      found: () => {
        const found = later();
        return addresses.map((one) => found.get(one)?.zonestatus);
      },
    };
  },
};

test.each(Object.keys(keepers))("%s are on disk as they are in memory, after each step", (name) => {
  using directory = temporaryDirectory();
  const keeper = keepers[name]?.(directory.path) as Keeper;
  const random = numbers(7);
  for (let step = 1; step <= 300; step += 1) {
    keeper.step(random);
    expect({ step, found: keeper.found() }).toEqual({ step, found: keeper.kept() });
  }
});

test("a directory that is gone keeps nobody from telling the status of a zone", () => {
  using directory = temporaryDirectory();
  const path = join(directory.path, "zigbee");
  mkdirSync(path);
  const clock = new SettableClock(now_ms);
  const { log, lines } = keptLog();
  const statuses = new LastStatuses({ directory: path, clock, log });
  statuses.set("aa", { zonestatus: 0x30, monotonic_ms: clock.now().monotonic_ms });
  clock.advance(120_000);
  rmSync(path, { recursive: true });
  writeFileSync(path, "no directory any more");
  statuses.set("aa", { zonestatus: 0x31, monotonic_ms: clock.now().monotonic_ms });
  expect(statuses.get("aa")?.zonestatus).toBe(0x31);
  expect(lines.join("\n")).toContain("at-rest.json cannot be written, heartbeats may show as events");
});

const release = (number: number) => ({ version: `0.${number}.0`, sha256: String(number).padStart(64, "0") });

/** Lists in files of a gateway: how many they have at most, how something is added, and the numbers of what a new process finds, the newest last. */
const lists: Readonly<
  Record<
    string,
    readonly [
      most: number,
      add: (directory: string, number: number) => void,
      found: (directory: string) => readonly unknown[],
    ]
  >
> = {
  "requests that were let in": [
    100,
    (directory, number) =>
      new RemoteJournal(directory).admit({ number, request: "status", at_ms: number }, "a key"),
    (directory) => new RemoteJournal(directory).entries.map(({ number }) => number).toReversed(),
  ],
  "requests that were refused": [
    20,
    (directory, number) =>
      new RemoteJournal(directory).refuse([{ number, request: "status", at_ms: number, outcome: "refused" }]),
    (directory) => new RemoteJournal(directory).entries.map(({ number }) => number).toReversed(),
  ],
  "refusals of releases": [
    refusals_max,
    (directory, number) =>
      writeState(
        directory,
        withRefusal(readState(directory), {
          ...{ ...release(number), reason: "went_back", message: "no", at_ms: number },
        }),
      ),
    (directory) => readState(directory).refusals.map(({ at_ms }) => at_ms),
  ],
  "tasks of a visit": [
    1_000,
    (directory, number) => noteAsk(directory, { of: "a device", at_ms: now_ms + number }),
    (directory) => visitIn(directory, now_ms + day_ms / 4).asks.map(({ at_ms }) => at_ms - now_ms),
  ],
  starts: [
    300,
    (directory, number) => void noteStart(directory, new SettableClock(number)),
    (directory) =>
      JSON.parse(readFileSync(join(directory, startsFile), "utf8")).map(
        ({ at_ms }: { at_ms: number }) => at_ms,
      ),
  ],
};

test.each(Object.keys(lists))("%s that are too many leave the newest, in their order", (name) => {
  using directory = temporaryDirectory();
  const [most, add, found] = lists[name] as (typeof lists)[string];
  const all = Array.from({ length: most + 3 }, (_, place) => place + 1);
  for (const number of all) add(directory.path, number);
  expect(found(directory.path)).toEqual(all.slice(-most));
});
