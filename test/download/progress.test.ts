import { expect, test } from "bun:test";
import pc from "picocolors";
import { DownloadMeter } from "../../src/commands/download-meter.ts";
import { progressBar } from "../../src/commands/progress-bar.ts";
import type { Terminal } from "../../src/commands/terminal.ts";

/** A terminal that keeps what it is given. */
class Kept implements Terminal {
  readonly said: string[] = [];
  foot = "";
  readonly interactive = false;
  readonly redraws = true;
  readonly width = undefined;
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
  let elapsed_ms = 0;
  const meter = new DownloadMeter({ terminal, elapsed_ms: () => elapsed_ms, atTerminal: false });
  for (let at = 0; at <= 12; at += 1) {
    elapsed_ms = at * 1_000;
    meter.show({ done: at, total: 13, received: at * 500, now: "hall-wall wirelesssensor_events" });
  }
  expect(terminal.said).toEqual([
    "5 of 13 series of items, 2500 readings, 500 a second, hall-wall wirelesssensor_events",
    "10 of 13 series of items, 5000 readings, 500 a second, hall-wall wirelesssensor_events",
  ]);
  expect(terminal.foot).toBe("");
});

test("at a terminal it says so at the foot, each time", () => {
  const terminal = new Kept();
  const meter = new DownloadMeter({ terminal, elapsed_ms: () => 2_000, atTerminal: true });
  meter.show({ done: 1, total: 2, received: 3_000, now: "items" });
  expect(terminal.foot).toBe("1 of 2 series of items, 3000 readings, 1500 a second, items");
  expect(terminal.said).toEqual([]);
});

test("a bar fills as rows are written, and no further than its end", () => {
  const terminal = new Kept();
  const bar = progressBar(terminal, 1_000);
  bar.advance(250, "scale_heart");
  expect(terminal.foot).toBe(`${"█".repeat(8)}${"░".repeat(22)}  25 %  250 readings  scale_heart`);
  bar.advance(2_000, "scale_heart");
  expect(terminal.foot).toBe(`${"█".repeat(30)} 100 %  2250 readings  scale_heart`);
  progressBar(terminal, 0).advance(0, "nothing");
  expect(terminal.foot).toContain("100 %");
});

test("on a narrow terminal the bar makes room for the words", () => {
  const terminal = new Kept();
  terminal.columns = 39;
  progressBar(terminal, 1_000).advance(500, "scale_heart");
  expect(terminal.foot).toBe("███░░░  50 %  500 readings  scale_heart");
  terminal.columns = 20;
  progressBar(terminal, 1_000).advance(500, "scale_heart");
  expect(terminal.foot).toBe("███░░  50 %  500 readings  scale_heart");
});
