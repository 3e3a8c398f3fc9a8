import type { Socket } from "bun";

/** Passes connections on to a port of this machine, and keeps all that clients send. */
export class RecordingProxy implements Disposable {
  readonly port: number;
  /** Everything that was sent to the server, each byte a character. */
  sent = "";
  readonly #listener: { stop(closeActive: boolean): void };

  constructor(to: number) {
    const waiting = new WeakMap<Socket<unknown>, Promise<Socket<unknown>>>();
    const listener = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (client) => {
          const server = Bun.connect({
            hostname: "127.0.0.1",
            port: to,
            socket: {
              data: (_, bytes) => void client.write(bytes),
              close: () => void client.end(),
              error: () => void client.end(),
            },
          });
          waiting.set(client, server);
        },
        data: (client, bytes) => {
          this.sent += bytes.toString("latin1");
          void waiting.get(client)?.then((server) => server.write(bytes));
        },
        close: (client) => void waiting.get(client)?.then((server) => server.end()),
      },
    });
    this.port = listener.port;
    this.#listener = listener;
  }

  /** The requests, as line, headers and body, of which each is text. */
  get requests(): readonly { readonly line: string; readonly headers: string; readonly body: string }[] {
    return this.sent
      .split(/(?=(?:GET|HEAD|POST) \/\S* HTTP\/1\.1\r\n)/)
      .filter(Boolean)
      .map((text) => {
        const [head = "", body = ""] = text.split("\r\n\r\n");
        const [line = "", ...headers] = head.split("\r\n");
        return { line, headers: headers.join("\n"), body };
      });
  }

  [Symbol.dispose](): void {
    this.#listener.stop(true);
  }
}
