import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pc from "picocolors";
import { type Clock, SystemClock } from "../../../src/base/clock.ts";
import { type BurnInState, blocksPath } from "../../../src/cli/burn-in/bench.ts";
import { block_bytes, codeOf, parseCode } from "../../../src/cli/burn-in/blocks.ts";
import { checkDisk } from "../../../src/cli/burn-in/disk-check.ts";
import type { Asker } from "../../../src/cli/setup/asker.ts";
import type { Terminal } from "../../../src/cli/terminal.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-burn-in-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

class PowerCut extends Error {}
class ShutDown extends Error {}
/** The box holds still for longer than this. */
const held_ms = 60_000;

/** A box at the bench, with a technician who pulls the plug some blocks after the box asks for it, and types what the screen shows. */
class Box {
  state: BurnInState = {
    run: "0".repeat(32),
    begun_ms: 0,
    hardware: { sticks: [] },
    results: {},
    disk: { passed: 0, blocks: 0 },
  };
  screen = "";
  readonly said: string[] = [];
  #boots = 0;
  #left: number | undefined;

  constructor(
    readonly options: {
      boot?: () => string;
      types?: (screen: string) => string;
      quick?: (number: number) => boolean;
      shutsDown?: boolean;
    } = {},
  ) {}

  /** Runs the check until the power goes: the finding, or undefined. */
  async run() {
    let isOff = false;
    const stop = new AbortController();
    const clock = this.#clock();
    const print = (line: string) => {
      const [, code] = /^on disk: (.*)$/.exec(line) ?? [];
      if (code === undefined) this.said.push(line);
      else this.screen = code;
      if (line.includes("Pull the plug") && this.options.shutsDown) {
        queueMicrotask(() => stop.abort(new ShutDown()));
        return;
      }
      if (line.includes("Pull the plug")) this.#left = line.includes("while") ? 7 : 0;
      if (this.#left !== undefined && this.#left-- === 0) {
        this.#left = undefined;
        isOff = true;
        throw new PowerCut();
      }
    };
    const box = this;
    const bench: Parameters<typeof checkDisk>[0] = {
      directory,
      clock,
      terminal: { print, redraws: false, colours: pc.createColors(false) } as unknown as Terminal,
      asker: {
        ask: async (_: string, read: (text: string) => unknown) =>
          read(this.options.types?.(this.screen) ?? this.screen),
      } as unknown as Asker,
      stop: stop.signal,
      keep: (change) => {
        if (!isOff) this.state = { ...this.state, ...change };
      },
      get state() {
        return box.state;
      },
    };
    try {
      return await checkDisk(bench);
    } catch (thrown) {
      if (!(thrown instanceof PowerCut)) throw thrown;
      return undefined;
    }
  }

  /** Has the disk forget blocks at the power cut: they are as they were before. */
  forget(...numbers: readonly number[]): void {
    const file = openSync(blocksPath(directory), "r+");
    for (const number of numbers)
      writeSync(file, new Uint8Array(block_bytes), 0, block_bytes, (number - 1) * block_bytes);
  }

  get last(): number {
    return parseCode(this.screen)?.number ?? 0;
  }

  /** A clock on which waiting takes no time, and each flush 10 ms, or one where it is quick. */
  #clock(): Clock {
    const system = new SystemClock();
    let looks = 0;
    let now_ms = 0;
    return {
      boot: this.options.boot?.() ?? `boot ${++this.#boots}`,
      now: () => {
        const flush = Math.floor(looks++ / 2) + 1;
        if (looks % 2 === 0) now_ms += this.options.quick?.(flush) ? 1 : 10;
        return { ...system.now(), monotonic_ms: now_ms };
      },
      after: (delay_ms, action) => {
        if (delay_ms < held_ms) queueMicrotask(action);
        return () => {};
      },
    };
  }
}

test("a disk that has every block after five power cuts passes", async () => {
  const box = new Box();
  for (let round = 1; round <= 5; round++) {
    expect(await box.run()).toBeUndefined();
    expect(parseCode(box.screen)).toEqual({ round, number: 2_007 });
  }
  const found = "After 5 power cuts the disk had all 10,035 blocks that it had acknowledged.";
  expect(await box.run()).toEqual({ outcome: "passed", found });
});

test("a disk that drops the last flush is named", async () => {
  const box = new Box();
  await box.run();
  box.forget(box.last);
  const found =
    "After the power cut of round 1 the disk lacked the last 1 of 2,007 blocks that it had acknowledged.";
  expect(await box.run()).toEqual({ outcome: "failed", found });
});

test("a disk that loses a block for good is named, with its number", async () => {
  const box = new Box();
  await box.run();
  await box.run();
  box.forget(12, 13);
  const found =
    "After the power cut of round 2 the disk lacked 2 of 2,007 blocks that it had acknowledged (number 12, 13), and had later ones.";
  expect(await box.run()).toEqual({ outcome: "failed", found });
});

test("in an even round the box stops at a flush that was too quick, and a disk that lied there is named", async () => {
  const box = new Box({ quick: (number) => number === 400 || number === 1_500 });
  await box.run();
  expect(box.last).toBe(2_007);
  await box.run();
  expect(parseCode(box.screen)).toEqual({ round: 2, number: 1_500 });
  expect(box.said.at(-1)).toStartWith("Pull the plug of the box now. ");
  box.forget(1_500);
  expect((await box.run())?.found).toContain("lacked the last 1 of 1,500 blocks");
});

test("a disk that forgets that a round has passed is named", async () => {
  const box = new Box();
  await box.run();
  const older = box.state;
  await box.run();
  box.state = older;
  expect((await box.run())?.found).toContain("the disk was at round 1 again");
});

test("a round without a power cut begins again", async () => {
  const box = new Box({ boot: () => "one boot" });
  await box.run();
  await box.run();
  expect(box.said).toContain("Round 1 ended without a power cut. It begins again.");
  expect(box.state.disk.passed).toBe(0);
});

test("an orderly end while the box holds still comes at once, and is no power cut", async () => {
  const box = new Box({ quick: (number) => number === 1_500, shutsDown: true });
  box.state = { ...box.state, disk: { passed: 1, blocks: 2_000 } };
  await expect(box.run()).rejects.toBeInstanceOf(ShutDown);
  expect(box.state.disk.open?.stopped).toBe(true);
  await box.run().catch(() => undefined);
  expect(box.said).toContain("Round 2 ended without a power cut. It begins again.");
});

test("a slip in a number is found", () => {
  const code = codeOf(2, 1_234);
  expect(parseCode(code.toLowerCase())).toEqual({ round: 2, number: 1_234 });
  for (const slip of [
    code.replace("1234", "1243"),
    code.slice(0, -1),
    codeOf(2, 1_235).slice(0, 6),
    "",
    "2-99999-AA",
  ])
    expect(parseCode(slip)).toBeUndefined();
});
