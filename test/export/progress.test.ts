import { expect, test } from "bun:test";
import pc from "picocolors";
import { downloadMeter, drawBar, moveMeter, uploadMeter } from "../../src/cli/progress.ts";
import type { Terminal } from "../../src/cli/terminal.ts";
import { keptLog } from "../../testbed/sample.ts";
import { SettableClock } from "../../testbed/settable-clock.ts";

/** A terminal that keeps what it is given. */
class Kept implements Terminal {
  readonly said: string[] = [];
  foot = "";
  redraws = true;
  readonly width = undefined;
  readonly rows = undefined;
  columns = 79;
  readonly colours = pc.createColors(false);
  readonly errorColours = pc.createColors(false);
  print(): void {}
  printJson(): void {}
  log(): void {}
  say(line: string): void {
    this.said.push(line);
  }
  progress(text: string): void {
    this.foot = text;
  }
  async flushed(): Promise<void> {}
}

/** Each meter at a part of its work, at a steady pace. */
const meters: Record<string, (terminal: Kept, clock: SettableClock) => (share: number) => void> = {
  uploadMeter: (terminal, clock) => {
    const show = uploadMeter({ terminal, clock, log: keptLog().log });
    return (share) => show({ sent: 1_000 * share, total: 1_000, now: "sending" });
  },
  // What is copied is read again, and compared.
  moveMeter: (terminal, clock) => {
    const show = moveMeter(terminal, clock);
    const done = (share: number, begins: number) => 1_000 * Math.min(1, Math.max(0, 2 * share - begins));
    return (share) => show({ copied: done(share, 0), compared: done(share, 1), total: 1_000 });
  },
  downloadMeter: (terminal, clock) => {
    const show = downloadMeter(terminal, () => clock.now().monotonic_ms, "csv");
    const none = { done: 0, total: 0, months: 0, months_expected: 0, now: "hall" };
    return (share) => show({ ...none, received: 1_000 * share, expected: 1_000 });
  },
};

test.each(Object.entries(meters))("%s tells the time that is left, from begin to end", (_name, meterOf) => {
  const terminal = new Kept();
  const clock = new SettableClock(0);
  const show = meterOf(terminal, clock);
  show(0);
  for (let share = 1; share <= 7; share += 1) {
    clock.advance(60_000);
    show(share / 8);
    expect([share, terminal.foot]).toEqual([share, expect.stringContaining(` ${8 - share} min left`)]);
    expect(terminal.foot).not.toContain("-");
  }
  clock.advance(60_000);
  show(1);
  expect(terminal.foot).toContain("100 %");
});

const progress = (at: number) => ({
  ...{ done: at, total: 13, received: at * 500, expected: 6_500, months: at, months_expected: 26 },
  now: "hall-wall wirelesssensor_events",
});

test("in a pipe a download says how much it is before it begins, and every five seconds how far it is", () => {
  const terminal = new Kept();
  terminal.redraws = false;
  let elapsed_ms = 1_000;
  const show = downloadMeter(terminal, () => elapsed_ms, "csv");
  for (let at = 0; at <= 12; at += 1) {
    elapsed_ms = 1_000 + at * 1_000;
    show(progress(at));
  }
  expect(terminal.said).toEqual([
    expect.stringMatching(
      /^To receive: 6500 readings, and measures of 26 months of homes. They take about [\d.]+ [MG]B on the disk.$/,
    ),
    // What takes longest tells the time: 4 of 26 months in 4 s.
    "4 of 13 series of items, 2000 of 6500 readings, 4 of 26 months of measures, about 22 s left, hall-wall wirelesssensor_events",
    "9 of 13 series of items, 4500 of 6500 readings, 9 of 26 months of measures, about 17 s left, hall-wall wirelesssensor_events",
  ]);
  expect(terminal.foot).toBe("");
});

test("at a terminal it says so at the foot, each time, and nothing of what a server does not tell", () => {
  const terminal = new Kept();
  const show = downloadMeter(terminal, () => 2_000, "csv");
  show({ ...progress(1), expected: 0, months_expected: 0, now: "items" });
  expect(terminal.foot).toEndWith("  1 of 13 series of items, items");
  expect(terminal.said).toEqual([]);
});

test("a bar fills as rows are written, and no further than its end", () => {
  const terminal = new Kept();
  drawBar(terminal, { done: 250, total: 1_000, words: "250 readings  scale_heart" });
  expect(terminal.foot).toBe(`${"█".repeat(8)}${"░".repeat(22)}  25 %  250 readings  scale_heart`);
  drawBar(terminal, { done: 2_250, total: 1_000, words: "2250 readings  scale_heart" });
  expect(terminal.foot).toBe(`${"█".repeat(30)} 100 %  2250 readings  scale_heart`);
  drawBar(terminal, { done: 0, total: 0, words: "nothing" });
  expect(terminal.foot).toContain("100 %");
});

test("on a narrow terminal the bar makes room for the words", () => {
  const terminal = new Kept();
  terminal.columns = 39;
  drawBar(terminal, { done: 500, total: 1_000, words: "500 readings  scale_heart" });
  expect(terminal.foot).toBe("███░░░  50 %  500 readings  scale_heart");
  terminal.columns = 20;
  drawBar(terminal, { done: 500, total: 1_000, words: "500 readings  scale_heart" });
  expect(terminal.foot).toBe("███░░  50 %  500 readings  scale_heart");
});
