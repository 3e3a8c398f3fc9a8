import { type Clock, clockQuality } from "../base/clock.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import { Stamper } from "../gateway/ingest/stamper.ts";
import type { Timeline } from "../store/gateway/gateway-store.ts";
import { databasePath, openForReading } from "../store/sqlite/connection.ts";

/** The clock of a box as its gateway believes it, for a command beside it: one that has leapt since a reading was last dated by it is not. */
export function boxClock({ clock, directory }: { clock: Clock; directory: string }): Clock {
  const guarded = new GuardedClock({ clock, directory });
  const stamper = new Stamper(timelineIn(directory, clock.boot));
  const now = () => {
    const moment = guarded.now();
    stamper.observe(moment);
    return stamper.doubts ? { ...moment, quality: clockQuality.unsynchronised } : moment;
  };
  return {
    boot: clock.boot,
    now,
    after: (delay_ms, action) => clock.after(delay_ms, action),
    doubt: () => {
      now();
      return guarded.doubt() ?? (stamper.doubts ? leapt : undefined);
    },
  };
}

/** By what the gateway dates readings in a boot; undefined where it has not known the time in it. */
function timelineIn(directory: string, boot: string): Timeline | undefined {
  using database = openForReading(databasePath(directory));
  const [row] = database.query("SELECT timeline FROM boots WHERE boot = ?").values(boot);
  const text = row?.[0];
  return typeof text === "string" ? JSON.parse(text) : undefined;
}

const leapt = {
  what: "The clock of this machine has leapt, and nobody knows yet whether it is right.",
  remedy: "run lintel pause without --for, or wait until the clock is back, or has stood for 40 minutes",
};
