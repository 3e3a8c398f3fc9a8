import { day_ms } from "../../../src/base/time.ts";
import { obeyLines, simulatorOptions } from "../../wire/simulated-process.ts";
import type { Activity } from "../health-log.ts";
import { plausibleLog } from "./log.ts";
import { WatchSimulator } from "./watch.ts";

/**
 * A simulated watch on a wire as a process of its own. Prints one JSON line when it is ready, `{"path":…}`, then answers
 * each command, one JSON object a line on stdin, with one JSON line: `{"ok":true}` or `{"error":…}`. Ends when stdin does.
 */
const help = `bun main.ts [--transport tcp|pty] [--port 0] [--link PATH] [--days 30]
  {"do":"block","ts":1800000000000,"stp":120,"act":"WALKING"}   ten minutes more in its log
  {"do":"live","stp":3}                                         a live value, which is no block
  {"do":"unplug"} {"do":"replug"} {"do":"garbage","hex":"00ff"}`;

interface Command {
  readonly do: string;
  readonly ts?: number;
  readonly stp?: number;
  readonly act?: Activity;
  readonly hex?: string;
}

const commands: Readonly<
  Record<string, (simulator: WatchSimulator, command: Command) => Promise<void> | void>
> = {
  block: ({ watch }, { ts = Date.now(), stp = 0, act = "UNKNOWN" }) => {
    watch.blocks.push({ end_ms: ts, steps: stp, activity: act });
  },
  live: ({ watch }, { stp = 0 }) => watch.live(stp),
  unplug: (simulator) => simulator.unplug(),
  replug: (simulator) => simulator.replug(),
  garbage: (simulator, { hex = "00" }) => simulator.garbage(Buffer.from(hex, "hex")),
};

async function obey(simulator: WatchSimulator, command: Command): Promise<void> {
  const obeyed = commands[command.do];
  if (obeyed === undefined) throw new RangeError(`no command ${command.do}`);
  await obeyed(simulator, command);
}

const { line, own } = await simulatorOptions(help, { days: { type: "string", default: "30" } });
const simulator = await WatchSimulator.listen(line);
const until_ms = Date.now();
const from_ms = until_ms - Number(own.days) * day_ms;
simulator.watch.blocks.push(...plausibleLog({ from_ms, until_ms, random: Math.random }));
await obeyLines<Command>({ simulator: simulator, obey: (command) => obey(simulator, command) });
