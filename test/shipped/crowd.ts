import { connect, type Socket } from "node:net";

/**
 * Connections to a port that never come to a request: each says `first`, then a letter now and then, and is opened again
 * where it was closed. They come from loopback addresses of their own, 127.1.x.x, as from as many machines.
 */
export class Crowd {
  readonly #options: { port: number; count: number; addresses: number; first: string };
  readonly #sockets = new Set<Socket>();
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
      const missing = this.#options.count - this.#sockets.size;
      for (let one = 0; one < Math.min(missing, opened_at_once_max); one++) this.#open();
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
    socket.on("connect", () => {
      this.#opened += 1;
      socket.write(first);
    });
    socket.on("close", () => this.#sockets.delete(socket));
    socket.on("error", () => this.#sockets.delete(socket));
  }
}

const pause_ms = 50;
const opened_at_once_max = 500;
