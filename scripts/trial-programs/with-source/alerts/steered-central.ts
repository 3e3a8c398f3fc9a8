import { Command } from "commander";
import { version } from "../../../../src/base/version.ts";
import { AlertNotices } from "../../../../src/central/alerts/alert-notices.ts";
import { AlertKeeper } from "../../../../src/central/fleet/alert-keeper.ts";
import { define } from "../../../../src/cli/central.ts";
import { processTerminal } from "../../../../src/cli/terminal.ts";
import { linesOf } from "../../../../testbed/lines.ts";
import { SettableClock } from "../../../../testbed/settable-clock.ts";

/**
 * `lintel central` with a clock that another process moves: `steered-central.ts NOW_MS OPTIONS…`. Each line of standard input is so many milliseconds that pass. Once all that
 * they began is done, there is a line `settled` on standard output.
 */
if (import.meta.main) {
  const [now_ms, ...words] = process.argv.slice(2);
  const clock = new SettableClock(Number(now_ms));
  const working = new Set<Promise<void>>();
  const noted = (work: Promise<void>) => {
    working.add(work);
    const done = () => working.delete(work);
    work.then(done, done);
    return work;
  };
  const { round } = AlertNotices.prototype;
  AlertNotices.prototype.round = function () {
    return noted(round.call(this));
  };
  const { look } = AlertKeeper.prototype;
  AlertKeeper.prototype.look = function () {
    return noted(look.call(this));
  };
  const command = new Command("central");
  define(command, { terminal: processTerminal(), clock, version, exitWith: () => {} });
  void command.parseAsync(words, { from: "user" });
  for await (const line of linesOf(Bun.stdin.stream())) {
    clock.advance(Number(line));
    void settled();
  }

  async function settled(): Promise<void> {
    while (working.size > 0) await Promise.allSettled(working);
    console.log("settled");
  }
}
