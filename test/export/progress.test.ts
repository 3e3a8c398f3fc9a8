import { expect, test } from "bun:test";
import pc from "picocolors";
import { downloadMeter, drawBar } from "../../src/cli/progress.ts";
import type { Terminal } from "../../src/cli/terminal.ts";

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

test("in a pipe a download says how far it is every five seconds", () => {
  const terminal = new Kept();
  terminal.redraws = false;
  let elapsed_ms = 0;
  const show = downloadMeter(terminal, () => elapsed_ms);
  for (let at = 0; at <= 12; at += 1) {
    elapsed_ms = at * 1_000;
    show({ done: at, total: 13, received: at * 500, now: "hall-wall wirelesssensor_events" });
  }
  expect(terminal.said).toEqual([
    "5 of 13 series of items, 2500 readings, 500 a second, hall-wall wirelesssensor_events",
    "10 of 13 series of items, 5000 readings, 500 a second, hall-wall wirelesssensor_events",
  ]);
  expect(terminal.foot).toBe("");
});

test("at a terminal it says so at the foot, each time", () => {
  const terminal = new Kept();
  const show = downloadMeter(terminal, () => 2_000);
  show({ done: 1, total: 2, received: 3_000, now: "items" });
  expect(terminal.foot).toBe("1 of 2 series of items, 3000 readings, 1500 a second, items");
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
