/**
 * From the last byte of a frame on a pty to a message of a stream of `since`, with 100 readers, and what they cost
 *
 *   ./scripts/bench stream [--events 60] [--quick]
 *
 * This process is the stick and its sensors, and 100 programs that follow a sensor each, of five tokens and from three addresses: as many as a gateway's budget lets in. The gateway is
 * the program that people start. Exits with 1 when a reader is sent an event later than a second after it was on the line, or the readers take more than 10 MB. --quick takes 10 events.
 */

import { connect } from "node:net";
import { eventually } from "../../testbed/front-door.ts";
import { optionsOf } from "../program-options.ts";
import { quantile, Report } from "./api/report.ts";
import { memoryOf } from "./memory/samples.ts";
import { StickHome } from "./stick/home.ts";

const options = optionsOf("./scripts/bench stream [--events 60] [--quick]", { events: 0, quick: false });

const readers_count = 100;
const tokens_count = 5;
const addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const sensors_count = 4;
const taken_ms_max = 1_000;
const memory_mb_max = 10;
/** Events before the memory without readers is taken, as many as with them. */
const events = options.events || (options.quick ? 10 : 60);

const home = await StickHome.start(sensors_count);
const report = new Report();
try {
  const { pid } = home.gateway.process;
  // No status that a sensor at rest or one that has just joined would report.
  let status = 0x400;
  const sensorOf = (number: number) => home.sensors[number % sensors_count] ?? raise();
  for (let count = 0; count < events; count += 1, status += 1)
    await home.untilServed(sensorOf(status), status);
  const [first, second] = [
    follow(home.token, { sensor: 0, from: addresses[0] }),
    follow(home.token, { sensor: 1 }),
  ];
  await eventually(() => (first.open && second.open) || undefined, "two readers");
  for (const one of [first, second]) one.leave();
  const tokens: string[] = [];
  while (tokens.length < tokens_count) tokens.push(await home.site.token());
  const before = memoryOf(pid);
  const readers = Array.from({ length: readers_count }, (_, place) =>
    follow(tokens[place % tokens_count] ?? raise(), {
      sensor: place % sensors_count,
      from: addresses[place % addresses.length],
    }),
  );
  await eventually(() => readers.every(({ open }) => open) || undefined, "all readers");
  const taken: number[] = [];
  for (let count = 0; count < events; count += 1, status += 1) {
    await Bun.sleep(1_000 * Math.random());
    const sensor = sensorOf(status);
    const told = readers.filter(({ sensor }) => sensor === status % sensors_count);
    sensor.notify(status);
    await home.stick.drained();
    const written_ms = performance.now();
    const marks = await eventually(() => {
      const seen = told.map(({ seen }) => seen.get(status));
      return seen.every((at) => at !== undefined) ? seen : undefined;
    }, `event ${status} at all its readers`);
    taken.push(...marks.map((at) => at - written_ms));
  }
  const after = memoryOf(pid);
  report.bar(`from the last byte on the line to a message at each of ${readers_count} readers, longest, ms`, {
    value: Math.max(...taken),
    most: taken_ms_max,
  });
  report.figure("the same, median, ms", quantile(taken, 0.5));
  report.bar(`memory of ${readers_count} readers, resident, MB`, {
    value: after.rss_mb - before.rss_mb,
    most: memory_mb_max,
    of: [`${after.rss_mb.toFixed(1)} MB`, `${before.rss_mb.toFixed(1)} MB without them`],
  });
  for (const one of readers) one.leave();
} finally {
  await home.close();
}
process.exit(report.end());

/** A program that follows a sensor: when it saw each event. */
function follow(token: string, { sensor, from }: { sensor: number; from?: string | undefined }) {
  const reader = { sensor, open: false, seen: new Map<number, number>(), leave: () => void socket.destroy() };
  const { hostname, port, pathname } = new URL(home.gateway.url);
  const socket = connect({ host: hostname, port: Number(port), ...(from && { localAddress: from }) });
  const path = `${pathname}/items/wirelesssensors/${home.nameOf(home.sensors[sensor] ?? raise())}/events?since=`;
  const head = `GET ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: bearer ${token}\r\n`;
  socket.write(`${head}Accept: application/json, text/event-stream\r\n\r\n`);
  socket.on("data", (bytes: Buffer) => {
    const text = bytes.toString("latin1");
    if (text.startsWith("HTTP/1.1 200")) reader.open = true;
    for (const [, event] of text.matchAll(/"event":(\d+)/g))
      reader.seen.set(Number(event), performance.now());
  });
  socket.on("error", () => {});
  return reader;
}

function raise(): never {
  throw new RangeError("there is no such sensor, or token");
}
