import { join } from "node:path";
import { connect } from "./connection.ts";
import { addressOf, madeData, nameOf } from "./data.ts";
import { Gateway } from "./gateway.ts";
import { quantile, type Report } from "./report.ts";

/**
 * How long a page takes at the top and nine tenths of the way down, in turns over one connection, while the gateway
 * hears 200 notifications a second of the same sensor. No page is asked for twice, so that none comes from a cache.
 */
export async function pagesAtDepth(options: {
  directory: string;
  report: Report;
  events: number;
  samples: number;
}): Promise<void> {
  const { report, events, samples } = options;
  const { store } = await madeData({ directory: join(options.directory, "deep"), events, items: 1 });
  await using server = await Gateway.hearing(store, { ieee: addressOf(1), per_s: 200 });
  const deep = events * 0.9;
  const path = (skip: number) => `/items/wirelesssensors/${nameOf(1)}/events?skip=${skip}`;
  const connection = await connect(server.port);
  const spent = { top: [] as number[], deep: [] as number[] };
  for (let sample = -samples / 10; sample < samples; sample += 1) {
    for (const place of sample % 2 === 0 ? (["top", "deep"] as const) : (["deep", "top"] as const)) {
      const skip = (place === "top" ? 0 : deep) + sample + samples / 10;
      const took_ms = await connection.ask(server.get(path(skip)));
      if (sample >= 0) spent[place].push(took_ms);
    }
  }
  connection.close();
  const [newest] = (await (await server.ask(path(0))).json()) as { stamp: number }[];
  if ((newest?.stamp ?? 0) < Date.now() / 1000 - heard_s_max) throw new Error("the sensor is not heard");
  const shown = (times: number[]) =>
    `median ${quantile(times, 0.5).toFixed(3)} ms, p99 ${quantile(times, 0.99).toFixed(3)} ms`;
  report.note(`page at the top while 200 readings a second arrive: ${shown(spent.top)}`);
  report.note(`page from skip ${deep} on: ${shown(spent.deep)}`);
  const ratio = (q: number) => quantile(spent.deep, q) / quantile(spent.top, q);
  report.bar("  times as long, in the median", { value: ratio(0.5), most: 1.1 });
  report.bar("  times as long, at p99", { value: ratio(0.99), most: 1.5 });
}

const heard_s_max = 5;
