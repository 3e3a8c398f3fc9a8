/** One connection, kept open. */
export interface Connection {
  /** Milliseconds until a request is answered to its end; rejects where the answer is not 200. */
  ask(request: string): Promise<number>;
  close(): void;
}

/** Connects to a server on this machine. */
export async function connect(port: number): Promise<Connection> {
  let missing = 0;
  let done: () => void = () => {};
  let fail: (error: Error) => void = () => {};
  const socket = await Bun.connect({
    hostname: "127.0.0.1",
    port,
    socket: {
      data: (_, chunk) => {
        if (missing === 0) {
          const head = chunk.toString("latin1", 0, 2_048);
          const length = /content-length: (\d+)/i.exec(head)?.[1];
          if (!head.startsWith("HTTP/1.1 200") || length === undefined) fail(new Error(head));
          missing = Number(length) + head.indexOf("\r\n\r\n") + 4;
        }
        missing -= chunk.length;
        if (missing === 0) done();
      },
      close: () => fail(new Error("the server closed the connection")),
    },
  });
  return {
    ask: async (request: string) => {
      const started = performance.now();
      await new Promise<void>((resolve, reject) => {
        done = resolve;
        fail = reject;
        socket.write(request);
      });
      return performance.now() - started;
    },
    close: () => {
      fail = () => {};
      socket.end();
    },
  };
}
