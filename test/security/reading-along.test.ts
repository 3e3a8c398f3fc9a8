import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { lintelHere } from "../../testbed/command-here.ts";
import { type RunningServer, Site } from "../../testbed/front-door.ts";

/** Somebody between a reader and a gateway, who has every byte of both directions. */
class Wiretap {
  readonly #server: Bun.TCPSocketListener<{ to?: Promise<Bun.Socket<undefined>> }>;
  heard = "";

  constructor(origin: string) {
    const { hostname, port } = new URL(origin);
    const hear = (bytes: Uint8Array) => {
      this.heard += Buffer.from(bytes).toString("latin1");
    };
    this.#server = Bun.listen({
      hostname: "127.0.0.1",
      port: 0,
      socket: {
        open: (near) => {
          near.data = {
            to: Bun.connect({
              hostname,
              port: Number(port),
              socket: {
                data: (_, bytes) => {
                  hear(bytes);
                  near.write(bytes);
                },
                close: () => void near.end(),
              },
            }),
          };
        },
        data: async (near, bytes) => {
          hear(bytes);
          (await near.data.to)?.write(bytes);
        },
        close: async (near) => void (await near.data.to)?.end(),
      },
    });
  }

  get port(): number {
    return this.#server.port;
  }

  stop(): void {
    this.#server.stop(true);
  }
}

const sites: Site[] = [];
afterAll(() => Promise.all(sites.map((site) => site.remove())));

/** The bytes that a wiretap hears while somebody signs in, asks the interface and looks at the page. */
async function tapped(api: string): Promise<{ heard: string; token: string; server: RunningServer }> {
  const site = new Site({ commands: lintelHere });
  sites.push(site);
  site.configure({ api, sections: '[home]\nid = 12\ntimezone = "Europe/London"' });
  const token = await site.token();
  const server = await site.run();
  const tap = new Wiretap(server.origin);
  const { protocol } = new URL(server.origin);
  const origin = `${protocol}//127.0.0.1:${tap.port}`;
  const tls =
    protocol === "https:"
      ? { tls: { ca: readFileSync(join(site.data, "tls-certificate.pem"), "utf8") } }
      : {};
  const own = { "Sec-Fetch-Site": "same-origin" };
  const entered = await fetch(`${origin}/sign-in`, {
    method: "POST",
    headers: own,
    body: new URLSearchParams({ token }),
    redirect: "manual",
    ...tls,
  });
  expect(entered.status).toBe(303);
  const cookie = entered.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect(await (await fetch(origin, { headers: { cookie }, ...tls })).text()).toContain("Home 12");
  const headers = { authorization: `bearer ${token}`, accept: "application/json" };
  expect((await fetch(`${origin}/v0.9/items`, { headers, ...tls })).status).toBe(200);
  tap.stop();
  return { heard: tap.heard, token, server };
}

test("whoever reads along by TLS hears no token, cookie, path or word of a page", async () => {
  const { heard, token } = await tapped('tls = "self-signed"');
  expect(heard.length).toBeGreaterThan(2_000);
  for (const word of [token, token.slice(0, 12), "lintel-", "sign-in", "Home 12", "/v0.9"])
    expect(heard).not.toContain(word);
});

test("without TLS all of that is heard, so that it would have been found", async () => {
  const { heard, token } = await tapped("");
  for (const word of [token, "lintel-", "sign-in", "/v0.9"]) expect(heard).toContain(word);
});
