import { connect, createServer, type Server, type Socket } from "node:net";

/** A line to a PostgreSQL server that keeps what the server notes to its clients, which the store does not listen to. */
export class Notices implements AsyncDisposable {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** Texts of the notices so far, in the order in which they came. */
  readonly texts: string[] = [];
  /** The URL of the database through this line. */
  readonly url: string;

  private constructor(server: Server, url: string) {
    this.#server = server;
    this.url = url;
  }

  static async of(url: string): Promise<Notices> {
    const { hostname, port } = new URL(url);
    const server = createServer((client) => {
      const far = connect(Number(port || default_port), hostname);
      notices.#join(client, far);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const address = server.address();
    const through = new URL(url);
    through.host = `127.0.0.1:${typeof address === "object" ? address?.port : ""}`;
    const notices = new Notices(server, through.href);
    return notices;
  }

  #join(client: Socket, far: Socket): void {
    let rest: Buffer = Buffer.alloc(0);
    far.on("data", (bytes: Buffer) => {
      rest = this.#read(Buffer.concat([rest, bytes]));
      client.write(bytes);
    });
    client.on("data", (bytes) => far.write(bytes));
    for (const [one, other] of [
      [client, far],
      [far, client],
    ] as const) {
      this.#sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => other.end());
    }
  }

  /** Reads messages ("Message Formats" in the manual of PostgreSQL: a letter, then the length of what follows with its own four bytes); answers what is left. */
  #read(bytes: Buffer): Buffer {
    let from = 0;
    while (from + 5 <= bytes.length) {
      const end = from + 1 + bytes.readUInt32BE(from + 1);
      if (end > bytes.length) break;
      if (bytes[from] === letter("N")) this.#keep(bytes.subarray(from + 5, end));
      from = end;
    }
    return bytes.subarray(from);
  }

  /** Fields of a notice, each a letter and a text; M is the message. */
  #keep(body: Buffer): void {
    const fields = body.toString("utf8").split("\0");
    const message = fields.find((field) => field.startsWith("M"));
    if (message !== undefined) this.texts.push(message.slice(1));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

function letter(text: string): number {
  return text.charCodeAt(0);
}

const default_port = 5432;
