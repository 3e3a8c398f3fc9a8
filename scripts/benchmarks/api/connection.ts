/** One connection, kept open. */
export interface Connection {
  /** Milliseconds until a request is answered to its end; rejects where the answer is not 200 or 304. */
  ask(request: string): Promise<number>;
  /** Bytes of the last answer's body. */
  readonly body_bytes: number;
  close(): void;
}

/** Connects to a server on this machine. */
export async function connect(port: number): Promise<Connection> {
  const answer = new Answer();
  let closed = false;
  let settle: (error?: Error) => void = () => {};
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, chunk) => {
        const fault = answer.take(chunk);
        if (fault !== undefined) settle(new Error(fault));
        else if (answer.whole) settle();
      },
      close: () => {
        closed = true;
        settle(new Error("the server closed the connection"));
      },
    },
  });
  return {
    ask: async (request: string) => {
      if (closed) throw new Error("the server has closed the connection");
      answer.begin();
      const started = performance.now();
      await new Promise<void>((resolve, reject) => {
        settle = (error) => (error === undefined ? resolve() : reject(error));
        socket.write(request);
      });
      return performance.now() - started;
    },
    get body_bytes() {
      return answer.body_bytes;
    },
    close: () => {
      settle = () => {};
      socket.end();
    },
  };
}

/** An answer as it comes: its head may come in pieces too. */
export class Answer {
  #head = "";
  #missing = Number.POSITIVE_INFINITY;
  body_bytes = 0;

  begin(): void {
    this.#head = "";
    this.#missing = Number.POSITIVE_INFINITY;
  }

  get whole(): boolean {
    return this.#missing === 0;
  }

  /** Takes a chunk of the response; returns its fault, undefined where there is none. */
  take(chunk: Buffer): string | undefined {
    if (this.#missing !== Number.POSITIVE_INFINITY) {
      this.#missing -= chunk.length;
      return undefined;
    }
    const before = this.#head.length;
    this.#head += chunk.toString("latin1", 0, head_length_max);
    const end = this.#head.indexOf("\r\n\r\n");
    if (end === -1)
      return this.#head.length > head_length_max ? `no end of the head: ${this.#head}` : undefined;
    const head = this.#head.slice(0, end);
    const status = head.slice(9, 12);
    const length = status === "304" ? "0" : /content-length: (\d+)/i.exec(head)?.[1];
    if (!["200", "304"].includes(status) || length === undefined) return head;
    this.body_bytes = Number(length);
    this.#missing = this.body_bytes + end + 4 - before - chunk.length;
    return undefined;
  }
}

const head_length_max = 2_048;
