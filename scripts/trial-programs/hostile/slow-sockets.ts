import { batchType } from "../wire/frame.ts";

/**
 * Keeps connections open on which hardly anything happens, until `goesOn` says no: some send the head of a request and then a byte a second, the
 * others nothing. Those that central closes are opened anew. Requests are begun a third of the time: while they last the home has no room for others.
 * Answers how many were opened, and how many were closed.
 */
export async function slowly(
  { origin, token }: { origin: string; token: string },
  goesOn: () => boolean,
): Promise<{ opened: number; closed: number }> {
  const counts = { opened: 0, closed: 0 };
  const { hostname, port } = new URL(origin);
  const open = new Set<Bun.Socket>();
  const speaking = new Set<Bun.Socket>();
  const head = `POST /sync/v1/batches HTTP/1.1\r\nHost: x\r\nAuthorization: bearer ${token}\r\nContent-Type: ${batchType}\r\nContent-Length: 1000000\r\n\r\n`;
  while (goesOn()) {
    for (let missing = sockets_max - open.size; missing > 0; missing -= 1) {
      const speaks = missing % 4 === 0 && Date.now() % (3 * phase_ms) < phase_ms;
      const socket = await Bun.connect({
        hostname,
        port: Number(port),
        socket: {
          data: () => {},
          close: (closed) => {
            speaking.delete(closed);
            if (open.delete(closed)) counts.closed += 1;
          },
          error: () => {},
        },
      }).catch(() => undefined);
      if (socket === undefined) break;
      counts.opened += 1;
      open.add(socket);
      if (!speaks) continue;
      speaking.add(socket);
      socket.write(head);
    }
    for (const socket of speaking) {
      if (Date.now() % (3 * phase_ms) < phase_ms) socket.write("x");
      else socket.terminate();
    }
    await Bun.sleep(1_000);
  }
  const all = [...open];
  open.clear();
  for (const socket of all) socket.terminate();
  return counts;
}

const phase_ms = 20_000;
/** Connections of one address at once: fewer than would shut everybody out, which is not tried here. */
const sockets_max = 100;
