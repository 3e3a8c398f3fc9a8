import { mkdirSync } from "node:fs";
import { lineLog } from "../../../../src/base/log.ts";
import { AlertNotices } from "../../../../src/central/alerts/alert-notices.ts";
import { noticeSender } from "../../../../src/central/alerts/notice.ts";
import type { Needy } from "../../../../src/central/alerts/outages.ts";
import type { AlertSettings } from "../../../../src/config/alert-settings.ts";
import { linesOf } from "../../../../testbed/lines.ts";
import { SettableClock } from "../../../../testbed/settable-clock.ts";

/** A round of a central, as the trial asks for it. */
export interface Round {
  readonly now_ms: number;
  readonly needy: readonly Needy[];
}

/** The alerts of a central in a process of their own, which may be killed: a round for each line of standard input, and then a line. */
if (import.meta.main) {
  const settings = JSON.parse(process.argv[2] ?? "") as AlertSettings;
  mkdirSync(settings.directory, { recursive: true });
  let mails: AlertNotices | undefined;
  let clock = new SettableClock(0);
  for await (const line of linesOf(Bun.stdin.stream())) {
    const { now_ms, needy } = JSON.parse(line) as Round;
    if (mails === undefined) {
      clock = new SettableClock(now_ms);
      const log = lineLog({ write: (text) => console.error(text), clock, least: "error" });
      mails = new AlertNotices({ settings, send: noticeSender(settings, clock), clock, log });
    }
    clock.advance(now_ms - clock.now().unix_ms);
    mails.note(needy);
    await mails.round();
    console.log("done");
  }
}
