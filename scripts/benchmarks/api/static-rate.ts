import { loadOf } from "./load.ts";
import { startCommand } from "./server-process.ts";

/** Static pages of 31 KB that a server of this machine sends in a second: so figures of different machines, and of busy ones, can be compared. */
export async function staticRate(seconds = 2): Promise<number> {
  const served = await startCommand([process.execPath, import.meta.path]);
  try {
    const { port } = served.said as { port: number };
    const requests = ["GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"];
    await loadOf({ port, seconds: 0.5, requests });
    return (await loadOf({ port, seconds, requests })).requests_per_s;
  } finally {
    await served.stop();
  }
}

if (import.meta.main) {
  const page = new Response("x".repeat(31_000));
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", routes: { "/": page } });
  process.on("SIGTERM", () => process.exit());
  console.log(JSON.stringify({ port: server.port }));
}
