import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";

/** Bytes that went each way, without headers of IP and TCP. */
interface Sent {
  up: number;
  down: number;
  connections: number;
}

/** The same with headers: a packet of 1,400 bytes has 52 bytes of IP and TCP besides, and so has its acknowledgement. */
export const onWire_bytes = ({ up, down }: Sent) => (up + down) * (1 + (2 * 52) / 1_400);

/** A line to a port of this machine that counts what goes through. */
export async function countingLine(port: number): Promise<{ port: number; sent: Sent; stop(): void }> {
  const sent: Sent = { up: 0, down: 0, connections: 0 };
  const server = createServer((near) => {
    sent.connections += 1;
    const far = connect(port, "127.0.0.1");
    near.on("data", ({ length }) => (sent.up += length)).on("error", () => far.destroy());
    far.on("data", ({ length }) => (sent.down += length)).on("error", () => near.destroy());
    near.pipe(far).pipe(near);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return { port: (server.address() as AddressInfo).port, sent, stop: () => void server.close() };
}
