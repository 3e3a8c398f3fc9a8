import { afterEach } from "bun:test";

/** Servers that answer as faulty or foreign ones would; those that a test has started are gone at its end. */
export function answeringServers() {
  const started: { stop(force: boolean): unknown; readonly port?: number }[] = [];
  afterEach(async () => {
    for (const server of started.splice(0)) await server.stop(true);
  });
  const origin = (server: (typeof started)[number]) => {
    started.push(server);
    return `http://127.0.0.1:${server.port}`;
  };
  const place = { hostname: "127.0.0.1", port: 0 };
  return {
    /** The address of a server that answers so; with `tls`, it has that certificate. */
    answering: (
      answer: (request: Request) => Response | Promise<Response>,
      tls?: { readonly cert: string; readonly key: string },
    ): string => origin(Bun.serve({ ...place, tls, fetch: answer })),
    /** The address of a server that takes everything and never answers. */
    silent: (): string => origin(Bun.listen({ ...place, socket: { data: () => {} } })),
  };
}
