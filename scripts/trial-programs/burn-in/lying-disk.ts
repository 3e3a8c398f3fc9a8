import type { Socket, UnixSocketListener } from "bun";

/** Disks by what becomes of what they acknowledged. */
export const diskKinds = {
  good: "keeps what it acknowledged",
  late: "drops the last flush: it brings a flush to disk at the next one",
  lying: "lies once in a thousand flushes, and makes it good at the next honest one",
  losing: "loses once in a thousand flushes what it should bring to disk",
} as const;
export type DiskKind = keyof typeof diskKinds;

const page_bytes = 4096;
/** An honest flush takes as long as on a memory card; a lie costs nothing. */
const flush_ms = 8;
const lie_share = 1 / 1000;

/**
 * A disk of a machine of qemu, by the NBD protocol (https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md): a cache, and behind it what a power cut
 * leaves.
 */
export class LyingDisk {
  readonly #kind: DiskKind;
  readonly #random: () => number;
  readonly #kept: Uint8Array;
  #cache: Uint8Array;
  /** Pages that were written since the last flush, and those that the flush before it should have brought to disk. */
  #written = new Map<number, Uint8Array>();
  #late = new Map<number, Uint8Array>();
  readonly #listener: UnixSocketListener<Session>;
  /** Flushes that were acknowledged, and lies among them. */
  flushes = 0;
  lies = 0;

  constructor(options: { kind: DiskKind; image: Uint8Array; socket: string; random: () => number }) {
    this.#kind = options.kind;
    this.#random = options.random;
    this.#kept = options.image;
    this.#cache = this.#kept.slice();
    this.#listener = Bun.listen<Session>({
      unix: options.socket,
      socket: {
        open: (socket) => {
          socket.data = new Session(socket, this);
        },
        data: ({ data: session }, bytes) => session.take(bytes),
        drain: ({ data: session }) => session.drain(),
      },
    });
  }

  get size_bytes(): number {
    return this.#kept.length;
  }

  read(from: number, length: number): Uint8Array {
    return this.#cache.slice(from, from + length);
  }

  write(from: number, bytes: Uint8Array): void {
    this.#cache.set(bytes, from);
    for (let page = Math.floor(from / page_bytes); page * page_bytes < from + bytes.length; page++)
      this.#written.set(page, this.#cache.slice(page * page_bytes, (page + 1) * page_bytes));
  }

  async flush(): Promise<void> {
    this.flushes += 1;
    const isLie = (this.#kind === "lying" || this.#kind === "losing") && this.#random() < lie_share;
    if (isLie) {
      this.lies += 1;
      if (this.#kind === "losing") this.#written = new Map();
      return;
    }
    await Bun.sleep(flush_ms);
    if (this.#kind === "late") this.#bring(this.#late);
    else this.#bring(this.#written);
    this.#late = this.#written;
    this.#written = new Map();
  }

  /** The power goes: what was not brought to disk is gone. */
  cut(): void {
    this.#cache = this.#kept.slice();
    this.#written = new Map();
    this.#late = new Map();
  }

  stop(): void {
    this.#listener.stop(true);
  }

  #bring(pages: ReadonlyMap<number, Uint8Array>): void {
    for (const [page, content] of pages) this.#kept.set(content, page * page_bytes);
  }
}

const optionMagic = 0x49484156454f5054n;
const replyMagic = 0x3e889045565a9n;
const requestMagic = 0x25609513;
const simpleReplyMagic = 0x67446698;
/** Has flags, and takes flushes. */
const transmissionFlags = 0b101;
const request_bytes = 28;
const option_bytes = 16;

/** One machine at the disk. */
class Session {
  readonly #socket: Socket<Session>;
  readonly #disk: LyingDisk;
  #rest: Buffer = Buffer.alloc(0);
  #phase: "flags" | "options" | "requests" = "flags";
  #work: Promise<void> = Promise.resolve();
  #unsent: Buffer[] = [];

  constructor(socket: Socket<Session>, disk: LyingDisk) {
    this.#socket = socket;
    this.#disk = disk;
    const hello = Buffer.alloc(18);
    hello.write("NBDMAGIC");
    hello.writeBigUInt64BE(optionMagic, 8);
    // Fixed newstyle, without zeroes.
    hello.writeUInt16BE(0b11, 16);
    this.#send(hello);
  }

  take(bytes: Uint8Array): void {
    this.#rest = Buffer.concat([this.#rest, bytes]);
    for (let used = this.#step(); used > 0; used = this.#step()) this.#rest = this.#rest.subarray(used);
  }

  drain(): void {
    const waiting = this.#unsent;
    this.#unsent = [];
    for (const bytes of waiting) this.#send(bytes);
  }

  /** Bytes of the next message, once all of it is there. */
  #step(): number {
    const all = this.#rest;
    if (this.#phase === "flags") {
      if (all.length < 4) return 0;
      this.#phase = "options";
      return 4;
    }
    if (this.#phase === "options") {
      if (all.length < option_bytes) return 0;
      const used = option_bytes + all.readUInt32BE(12);
      if (all.length < used) return 0;
      this.#option(all.readUInt32BE(8));
      return used;
    }
    if (all.length < request_bytes) return 0;
    if (all.readUInt32BE() !== requestMagic) throw new Error("no request of NBD");
    const [type, length] = [all.readUInt16BE(6), all.readUInt32BE(24)];
    const used = request_bytes + (type === 1 ? length : 0);
    if (all.length < used) return 0;
    const request = Buffer.from(all.subarray(0, used));
    this.#work = this.#work.then(() => this.#request(request, type, length));
    return used;
  }

  #option(option: number): void {
    const reply = (type: number, content: Buffer) => {
      const head = Buffer.alloc(20);
      head.writeBigUInt64BE(replyMagic);
      head.writeUInt32BE(option, 8);
      head.writeUInt32BE(type, 12);
      head.writeUInt32BE(content.length, 16);
      this.#send(Buffer.concat([head, content]));
    };
    const go = 7;
    // Not supported: there are simpler ways.
    if (option !== go) {
      reply(0x80000001, Buffer.alloc(0));
      return;
    }
    const info = Buffer.alloc(12);
    info.writeBigUInt64BE(BigInt(this.#disk.size_bytes), 2);
    info.writeUInt16BE(transmissionFlags, 10);
    reply(3, info);
    reply(1, Buffer.alloc(0));
    this.#phase = "requests";
  }

  async #request(request: Buffer, type: number, length: number): Promise<void> {
    const from = Number(request.readBigUInt64BE(16));
    let answer = new Uint8Array(0);
    let fault = 0;
    if (type === 0) answer = this.#disk.read(from, length) as Uint8Array<ArrayBuffer>;
    else if (type === 1) this.#disk.write(from, request.subarray(request_bytes));
    else if (type === 3) await this.#disk.flush();
    else if (type === 2) return;
    else fault = 22;
    const head = Buffer.alloc(16);
    head.writeUInt32BE(simpleReplyMagic);
    head.writeUInt32BE(fault, 4);
    request.copy(head, 8, 8, 16);
    this.#send(Buffer.concat([head, answer]));
  }

  #send(bytes: Buffer): void {
    if (this.#unsent.length > 0) {
      this.#unsent.push(bytes);
      return;
    }
    const sent = Math.max(0, this.#socket.write(bytes));
    if (sent < bytes.length) this.#unsent.push(bytes.subarray(sent));
  }
}
