/**
 * Bytes that an open page of the demo takes in an hour to show what happens, as a browser receives them
 *
 *   ./scripts/bench live [--seconds 300]
 *
 * The demo is the one that people start, and lives at its own pace. Exits with 1 when a page takes more than 1 MB an hour.
 */
import { connect } from "node:net";
import { eventually, Site } from "../../testbed/front-door.ts";
import { optionsOf } from "../program-options.ts";
import { Report } from "./api/report.ts";

const { seconds } = optionsOf(
  "./scripts/bench live [--seconds 300]",
  { seconds: 300 },
  ({ seconds }) => seconds > 0,
);

const most_kB = 1_000;
/** For the devices of the demo to be let in. */
const settle_ms = 20_000;
const device = (path: string) => `/live/devices/${path}`;
const pages = {
  gateway: {
    "the home, a day": "/live",
    "the home, a week": "/live?span=week",
    "a motion sensor": device("wirelesssensors/kitchen-wall"),
    "a sensor of a walking line": device("wirelesssensors/hall-curtain-2"),
    "a pill box": device("pillboxes/pillbox-morning"),
    "a watch": device("watches/watch-1"),
    "what is recorded": "/live/recorded",
  },
  central: { "the home at central": "/live/homes/1" },
};

const report = new Report();
const site = new Site();
try {
  const demo = site.spawn(["demo", "--port", "0", "--central-port", "0", "--json"]);
  const ready = JSON.parse((await demo.line()) ?? "{}") as Readonly<
    Record<"url" | "central_url" | "token" | "admin_token", string>
  >;
  const wanted = [
    ...Object.entries(pages.gateway).map(([what, path]) => ({
      what,
      path,
      url: ready.url,
      token: ready.token,
    })),
    ...Object.entries(pages.central).map(([what, path]) => {
      return { what, path, url: ready.central_url, token: ready.admin_token };
    }),
  ];
  // One after the other: a demo that has just begun is busy, and refuses what is too much at once.
  const opened = [];
  for (const page of wanted) opened.push(await eventually(() => follow(page), page.what));
  // What a page is sent when it is opened is in the document as well.
  await Bun.sleep(settle_ms);
  for (const page of opened) page.bytes = 0;
  await Bun.sleep(seconds * 1_000);
  for (const { what, bytes, leave } of opened) {
    leave();
    report.bar(`${what}: kB an hour, gzip`, { value: (bytes * 3.6) / seconds, most: most_kB });
  }
} finally {
  await site.remove();
}
process.exit(report.end());

interface Wanted {
  readonly what: string;
  readonly path: string;
  readonly url: string;
  readonly token: string;
}

/** Follows a page with the session of a token, and counts the bytes of its stream; undefined where it is refused. */
async function follow({ what, path, url, token }: Wanted) {
  const { hostname, port } = new URL(url);
  const { promise: answered, resolve } = Promise.withResolvers<boolean>();
  const page = { what, bytes: 0, leave: () => void socket.destroy() };
  const socket = connect({ host: hostname, port: Number(port) });
  const head = [`GET ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, `Cookie: lintel-${port}=${token}`];
  socket.write(`${[...head, "Accept: text/event-stream", "Accept-Encoding: gzip"].join("\r\n")}\r\n\r\n`);
  socket.on("data", (bytes: Buffer) => {
    resolve(bytes.toString("latin1").startsWith("HTTP/1.1 200"));
    page.bytes += bytes.length;
  });
  if (await answered) return page;
  page.leave();
  return undefined;
}
