import { type Data, nameOf } from "./data.ts";
import { Gateway } from "./gateway.ts";
import { type Load, loadOf } from "./load.ts";
import type { Report } from "./report.ts";

/**
 * Requests a second over loopback from `lintel run`: pages that were never asked for,
 * against one page over and over, as a plain client asks for it, as one that takes gzip, and as one that holds it.
 */
export async function repeatedPages(options: { data: Data; report: Report; seconds: number }): Promise<void> {
  const { data, report, seconds } = options;
  await using server = await Gateway.start(data.store);
  report.note(
    `a gateway on loopback, 16 connections: ${server.resident_mb().toFixed(0)} MB resident at the start`,
  );
  const gzip = "Accept-Encoding: gzip\r\n";
  const live = new LivePages(data, server);
  await live.load("", 1);
  const plain = await live.load("", seconds);
  const liveGzip = await live.load(gzip, seconds);
  const path = pathOf(data.pages[0] ?? { item: 1, before_s: 0 });
  const etag = await etagOf(server, path);
  const repeated = (headers: string) =>
    loadOf({ port: server.port, seconds, requests: [server.get(path, headers)] });
  const ratio = (name: string, one: Load, other: Load) => {
    report.bar(`${name}, beside pages that were never asked for`, {
      value: one.requests_per_s / other.requests_per_s,
      least: 6,
      of: [shown(one), shown(other)],
    });
  };
  ratio("repeated page", await repeated(""), plain);
  ratio("repeated page, gzip", await repeated(gzip), liveGzip);
  ratio("repeated page that the client holds", await repeated(`If-None-Match: ${etag}\r\n`), plain);
  report.figure("resident after that, MB", server.resident_mb());
}

/** Every page once, from where the last load stopped: the cache has room for fewer than there are. */
export class LivePages {
  readonly #data: Data;
  readonly #server: Gateway;
  #round = 0;

  constructor(data: Data, server: Gateway) {
    this.#data = data;
    this.#server = server;
  }

  /** Pages shifted by a few seconds each round are other pages, though they have most records in common. */
  load(headers: string, seconds: number): Promise<Load> {
    const requests = Array.from({ length: 40 }, () => {
      this.#round += 1;
      return this.#data.pages.map(({ item, before_s }) =>
        this.#server.get(pathOf({ item, before_s: before_s - this.#round * 31 }), headers),
      );
    }).flat();
    return loadOf({ port: this.#server.port, seconds, requests });
  }
}

export function pathOf({ item, before_s }: { item: number; before_s: number }): string {
  return `/items/wirelesssensors/${nameOf(item)}/events?before=${before_s}`;
}

async function etagOf(server: Gateway, path: string): Promise<string> {
  const response = await server.ask(path);
  await response.arrayBuffer();
  const etag = response.headers.get("etag");
  if (etag === null) throw new Error("a page has no entity tag");
  return etag;
}

function shown({ requests_per_s, bytes_per_request }: Load): string {
  return `${Math.round(requests_per_s)}/s of ${Math.round(bytes_per_request)} bytes`;
}
