import { connect, type Socket } from "node:net";

/**
 * Connections to a port that never come to a request: each says `first`, then a letter now and then, and is opened again
 * where it was closed. They come from loopback addresses of their own, 127.1.x.x, as from as many machines.
 */
export class Crowd {
  readonly #options: { port: number; count: number; addresses: number; first: string };
  readonly #sockets = new Set<Socket>();
  /** Those of them that the kernel has not let in yet, and since when, monotonic milliseconds. Oldest first. */
  readonly #connecting = new Map<Socket, number>();
  #begun = 0;
  #opened = 0;
  #stopped = false;

  constructor(options: { port: number; count: number; addresses: number; first: string }) {
    this.#options = options;
    void this.#keepUp();
  }

  /** Resolves once as many have been open as are to be there, those that were closed since among them. */
  async gathered(): Promise<void> {
    while (this.#opened < this.#options.count) await Bun.sleep(pause_ms);
  }

  stop(): void {
    this.#stopped = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  async #keepUp(): Promise<void> {
    while (!this.#stopped) {
      for (const [socket, since_ms] of this.#connecting) {
        if (performance.now() - since_ms < connect_ms_max) break;
        socket.destroy();
      }
      for (let missing = this.#options.count - this.#sockets.size; missing > 0; missing--) {
        if (this.#connecting.size >= connecting_max) break;
        this.#open();
      }
      for (const socket of this.#sockets) if (socket.readyState === "open") socket.write("a");
      await Bun.sleep(pause_ms);
    }
  }

  #open(): void {
    const { port, addresses, first } = this.#options;
    const number = this.#begun++ % addresses;
    const localAddress = `127.1.${Math.floor(number / 200)}.${1 + (number % 200)}`;
    const socket = connect({ host: "127.0.0.1", port, localAddress });
    this.#sockets.add(socket);
    this.#connecting.set(socket, performance.now());
    const gone = () => {
      this.#connecting.delete(socket);
      this.#sockets.delete(socket);
    };
    socket.on("connect", () => {
      this.#connecting.delete(socket);
      this.#opened += 1;
      socket.write(first);
    });
    socket.on("close", gone);
    socket.on("error", gone);
  }
}

const pause_ms = 50;
/**
 * Half of those that may wait at a port of Bun's to be accepted. The kernel drops what is beyond and tries it again after seconds, then minutes, and
 * so it does with whoever else comes: a crowd that outruns a busy server would measure the kernel.
 */
const connecting_max = 256;
/** A connection that was not let in by then is begun anew. */
const connect_ms_max = 1_000;
