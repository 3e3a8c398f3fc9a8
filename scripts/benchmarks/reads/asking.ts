import { connect } from "../api/connection.ts";
import { nameOf } from "../api/data.ts";

/**
 * The clients of a gateway, as a process of their own: `bun asking.ts OPTIONS` asks at moments that do not wait for answers, until its standard input ends, and
 * then prints each request as JSON, `[when it was due, milliseconds until it was answered]`. A request that is due while all connections are busy waits, and
 * its time counts from the moment at which it was due: a gateway that stands still is not asked less.
 */
export interface Asking {
  readonly port: number;
  readonly token: string;
  readonly per_s: number;
  readonly items: number;
  /** Pages of the past that are asked for once each, from the place `first` on. */
  readonly pages: readonly { readonly item: number; readonly before_s: number }[];
  readonly first: number;
}

/** A request: unix time at which it was due, and milliseconds from then on to its whole answer. */
export type Asked = readonly [due_ms: number, took_ms: number];

const connections_max = 8;
/** A timer is late by about as much; the rest is waited for without one. */
const timer_ms = 2;

/** Of ten requests: five for the newest records of an item, three that walk through the past, one list of items, and one that asks when an item was heard. */
function pathOf(count: number, { items, pages, first }: Asking): string {
  const name = nameOf(1 + ((count + Math.floor(count / 10)) % items));
  const kind = count % 10;
  if (kind === 3) return "/inventory/wirelesssensors";
  if (kind === 7) return `/items/wirelesssensors/${name}/coverage`;
  if (kind % 2 === 0) return `/items/wirelesssensors/${name}/events?limit=100`;
  const place = first + count;
  const { item, before_s } = pages[place % pages.length] as Asking["pages"][number];
  // Another page in each round through the pages.
  const shift_s = 31 * Math.floor(place / pages.length);
  return `/items/wirelesssensors/${nameOf(item)}/events?before=${before_s - shift_s}`;
}

async function ask(asking: Asking): Promise<Asked[]> {
  const { port, token, per_s } = asking;
  const headers = `Host: 127.0.0.1:${port}\r\nAuthorization: bearer ${token}\r\nAccept: application/json\r\n`;
  const free = await Promise.all(Array.from({ length: connections_max }, () => connect(port)));
  const due: { readonly at_ms: number; readonly text: string }[] = [];
  const asked: Asked[] = [];
  const underWay = new Set<Promise<void>>();
  const send = () => {
    // Each in its turn: the gateway closes a connection on which nobody asks for some seconds.
    const [connection, request] = [free[0], due[0]];
    if (connection === undefined || request === undefined) return;
    free.shift();
    due.shift();
    const answered = connection.ask(request.text).then(() => {
      asked.push([performance.timeOrigin + request.at_ms, performance.now() - request.at_ms]);
      free.push(connection);
      underWay.delete(answered);
      send();
    });
    underWay.add(answered);
  };
  let ended = false;
  void Bun.stdin.text().then(() => {
    ended = true;
  });
  let at_ms = performance.now();
  for (let count = 0; !ended; count += 1) {
    // The moments of clients that know nothing of each other.
    at_ms += (-Math.log(1 - Math.random()) * 1000) / per_s;
    if (at_ms - performance.now() > timer_ms) await Bun.sleep(at_ms - performance.now() - timer_ms);
    while (performance.now() < at_ms) await new Promise(setImmediate);
    due.push({ at_ms, text: `GET /v0.9${pathOf(count, asking)} HTTP/1.1\r\n${headers}\r\n` });
    send();
  }
  while (underWay.size > 0) await Promise.all(underWay);
  for (const connection of free) connection.close();
  return asked;
}

console.log(JSON.stringify(await ask(JSON.parse(process.argv[2] ?? "{}"))));
