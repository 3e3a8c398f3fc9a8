import { readFileSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { brotliCompressSync, constants, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import type { LintelProcess } from "../../../testbed/front-door.ts";

/** An answer that a server gives to cost its client memory: lines of its head, then its body, piece by piece. */
export interface Lie {
  readonly head: readonly string[];
  readonly body: () => Iterable<string | Uint8Array>;
}

/** A server that stands in front of an honest one, and lies at the paths that `at` names. */
export class Liar {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** How often it has lied. */
  told = 0;

  private constructor(origin: string, at: RegExp, lie: Lie) {
    const { port } = new URL(origin);
    this.#server = createServer((socket) => {
      this.#keep(socket);
      socket.once("data", (first) => {
        const request = first.toString("latin1");
        if (at.test(request.slice(0, request.indexOf("\r\n")))) {
          this.told += 1;
          tell(socket, lie);
          return;
        }
        const honest = connect(Number(port), "127.0.0.1");
        this.#keep(honest);
        // One request a connection: the next one may be for a lie.
        honest.write(Buffer.from(request.replace("\r\n", "\r\nConnection: close\r\n"), "latin1"));
        socket.pipe(honest).pipe(socket);
      });
    });
  }

  static async start(origin: string, at: RegExp, lie: Lie): Promise<Liar> {
    const liar = new Liar(origin, at, lie);
    await new Promise<void>((resolve) => void liar.#server.listen(0, "127.0.0.1", resolve));
    return liar;
  }

  get host(): string {
    const { port } = this.#server.address() as { port: number };
    return `127.0.0.1:${port}`;
  }

  get origin(): string {
    return `http://${this.host}`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.on("close", () => this.#sockets.delete(socket));
  }
}

/** The most memory that a process has had so far, MB; what it had when it was last seen, once it is gone. */
export class Peak {
  mb = 0;
  readonly #path: string;
  readonly #watching = setInterval(() => this.look(), 5);

  constructor({ pid }: Pick<LintelProcess, "pid">) {
    this.#path = `/proc/${pid}/status`;
  }

  look(): number {
    try {
      const kb = /VmHWM:\s+(\d+)/.exec(readFileSync(this.#path, "utf8"))?.[1];
      if (kb !== undefined) this.mb = Math.max(this.mb, Number(kb) / 1024);
    } catch {
      // It is gone.
    }
    return this.mb;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#watching);
  }
}

function tell(socket: Socket, { head, body }: Lie): void {
  const pieces = body()[Symbol.iterator]();
  const next = () => {
    for (;;) {
      const { done, value } = pieces.next();
      if (done) return void socket.end();
      if (socket.destroyed) return;
      if (!socket.write(value)) return void socket.once("drain", next);
    }
  };
  socket.write(`${head.join("\r\n")}\r\n`);
  next();
}

/** A whole answer of these bytes. `coding`: what it says that its coding is. */
function answer(bytes: Uint8Array | string, { status = "200 OK", coding = "identity" } = {}): Lie {
  const content = Buffer.from(bytes);
  return {
    head: [
      `HTTP/1.1 ${status}`,
      "Content-Type: application/json",
      `ETag: "${crypto.randomUUID()}"`,
      "Lintel-Position: 1 1",
      `Content-Encoding: ${coding}`,
      `Content-Length: ${content.length}`,
      "",
    ],
    body: () => [content],
  };
}

/** A list that repeats a text, with commas between, for about so many MiB. */
function listOf(text: string, mebibytes: number): Buffer {
  const times = Math.floor((mebibytes * 1024 * 1024) / (text.length + 1));
  return Buffer.from(`[${`${text},`.repeat(times)}${text}]`);
}

/** An object of about so many MiB, in which are so many objects with a name each, and the rest is one text. */
function filled(mebibytes: number, objects: number): Buffer {
  const list = Array.from({ length: objects }, (_, n) => `{"${n.toString(36)}":1}`).join(",");
  const head = `{"home":12,"now_ms":1,"version":"1","epochs":[],"files":{},"scope":"read","list":[${list}],"text":"`;
  const rest = Math.floor(mebibytes * 1024 * 1024) - head.length - 10;
  return Buffer.from(`${head}${"€".repeat(rest / 3)}"}`);
}

function* endless(piece: string): Generator<string> {
  for (;;) yield piece;
}

const chunked = ["HTTP/1.1 200 OK", "Content-Type: application/json", "Transfer-Encoding: chunked", ""];
const chunk = `10000\r\n${" ".repeat(0x10000)}\r\n`;
const zeros = new Uint8Array(64 * 1024 * 1024);

/** A page of items that are as long as they may be, and after which there is always another. */
function pageOfItems(): Lie {
  const page = zstdCompressSync(JSON.stringify(Array.from({ length: 1_000 }, (_, n) => itemOf(n, 2_000))));
  const { head, body } = answer(page, { coding: "zstd" });
  return {
    get head() {
      const next = `Link: <?skip=${Math.floor(Math.random() * 1e9)}>; rel="next"`;
      return [...head.slice(0, -1), next, ""];
    },
    body,
  };
}

/** An item as the interface and central's records of a home have it. */
function itemOf(itemid: number, letters: number): object {
  return {
    itemid,
    itemname: `${itemid}${"€".repeat(letters)}`,
    ...{ serialnum: null, macaddress: null, modelid: null, modelname: null, subjectspecific: null },
    ...{
      vendorid: null,
      vendorname: null,
      typeid: 1,
      typename: "pillboxes",
      subtypeid: null,
      subtypename: "null",
    },
    ...{ currenthomeid: null, currenthomestart: null, active: 0, activename: "Inactive" },
    ...{
      statusid: null,
      statusname: null,
      batterymonths: null,
      lastbatterychange: "null",
      hasbatteries: null,
    },
  };
}

/** A batch as it travels, of this text. */
function batchOf(text: string | Buffer): Lie {
  const params = { [constants.ZSTD_c_checksumFlag]: 1 };
  return answer(zstdCompressSync(text, { params }));
}

/** Each lie, made when it is told. */
export const lies = {
  "lists in zstd": () => answer(zstdCompressSync(listOf("[]", 60)), { coding: "zstd" }),
  "lists in gzip": () => answer(gzipSync(listOf("[]", 60)), { coding: "gzip" }),
  "lists in br": () => answer(brotliCompressSync(listOf("[]", 16)), { coding: "br" }),
  "lists in deflate": () => answer(deflateSync(listOf("[]", 16)), { coding: "deflate" }),
  "lists in gzip in gzip": () => answer(gzipSync(gzipSync(listOf("[]", 60))), { coding: "gzip, gzip" }),
  "a gigabyte in frames of zstd": () =>
    answer(Buffer.concat(Array<Uint8Array>(16).fill(zstdCompressSync(zeros))), { coding: "zstd" }),
  "a gigabyte in parts of gzip": () =>
    answer(Buffer.concat(Array<Uint8Array>(16).fill(gzipSync(zeros))), { coding: "gzip" }),
  "lists as they are": () => answer(listOf("[]", 7.9)),
  "objects with a name each": () =>
    answer(`[${Array.from({ length: 600_000 }, (_, n) => `{"${n.toString(36)}":1}`).join(",")}]`),
  "lists beside what is asked for": () =>
    answer(
      zstdCompressSync(
        `{"home":1,"now_ms":1,"version":"1","epochs":[],"files":{},"items":${listOf("[]", 60)}}`,
      ),
      {
        coding: "zstd",
      },
    ),
  "all that a page may have": () => answer(zstdCompressSync(filled(15.5, 66_000)), { coding: "zstd" }),
  "all that records may have": () => answer(zstdCompressSync(filled(7.8, 98_000)), { coding: "zstd" }),
  "six thousand items": () =>
    answer(JSON.stringify({ items: Array.from({ length: 6_000 }, (_, n) => itemOf(n + 1, 100)) })),
  "a batch of lists": () => batchOf(`[${"[],".repeat(499_998)}[]]`),
  "a batch of texts": () =>
    batchOf(`[${Array.from({ length: 499_000 }, (_, n) => `"${n.toString(36)}"`).join(",")}]`),
  "a batch of lists beyond all bounds": () => batchOf(listOf("[]", 15.9)),
  "a page of items after every page": pageOfItems,
  "a million texts": () =>
    answer(`[${Array.from({ length: 1_000_000 }, (_, n) => `"${n.toString(36)}"`).join(",")}]`),
  "brackets within brackets": () => answer("[".repeat(4_000_000)),
  "a text of 100 MB": () => answer(`"${"a".repeat(100_000_000)}"`),
  "a number of a million digits": () => answer(`[${"9".repeat(1_000_000)}]`),
  "a refusal of lists": () =>
    answer(zstdCompressSync(listOf("[]", 60)), { status: "409 Conflict", coding: "zstd" }),
  "a refusal without end": () => ({
    head: ["HTTP/1.1 403 Forbidden", ...chunked.slice(1)],
    body: () => endless(chunk),
  }),
  "pieces without end": () => ({ head: chunked, body: () => endless(chunk) }),
  "a length of a terabyte": () => ({
    head: ["HTTP/1.1 200 OK", "Content-Type: application/json", "Content-Length: 1000000000000", ""],
    body: () => endless(chunk),
  }),
  "headers without end": () => ({
    head: ["HTTP/1.1 200 OK"],
    body: () => endless(`X-${"a".repeat(60_000)}: a\r\n`),
  }),
} as const satisfies Record<string, () => Lie>;

export type LieName = keyof typeof lies;
