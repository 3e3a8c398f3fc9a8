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
  const bar = (what: string, q: number, most: number) => {
    const [top, low] = [quantile(spent.top, q), quantile(spent.deep, q)];
    report.bar(
      `page from skip ${deep.toLocaleString("en")} on beside the newest, 200 readings a second arrive, ${what}`,
      {
        value: low / top,
        most,
        of: [`${low.toFixed(2)} ms`, `${top.toFixed(2)} ms`],
      },
    );
  };
  bar("median", 0.5, 1.1);
  bar("99 of 100", 0.99, 1.5);
}

const heard_s_max = 5;
