import { expect, test } from "bun:test";
import {
  acceptedAt,
  boundsWithin,
  end,
  OpenFiles,
  surplusOf,
} from "../../../src/web/server/client-connections.ts";
import { eventually } from "../../../testbed/front-door.ts";

const bounds = { connections_max: 4, connections_of_client_max: 3 };
/** `a30` is a connection of client a that has been idle for 30 ms. */
const connections = (...names: string[]) =>
  names.map((name) => ({ name, network: name.slice(0, 1), idle_ms: Number(name.slice(1)) }));
const closed = (names: string[], busy: string[] = []) =>
  surplusOf(connections(...names), bounds, ({ name }) => busy.includes(name)).map(({ name }) => name);

test("nothing is closed at the bounds", () => {
  expect(closed(["a1", "a2", "a3", "b9"])).toEqual([]);
});

test("of a client with too many those idle for longest are closed, and nobody else's", () => {
  expect(closed(["a1", "a9", "a5", "a7", "b99"])).toEqual(["a9"]);
});

test("of too many in all those idle for longest are closed, whoever has them", () => {
  expect(closed(["a1", "b7", "c3", "d8", "e2", "f5"])).toEqual(["d8", "b7"]);
});

test("a connection whose request is under way counts and stays, however long it has been idle", () => {
  expect(closed(["a1", "a9", "a5", "a7"], ["a9"])).toEqual(["a7"]);
  const all = ["a9", "a8", "a7", "a6", "a5"];
  expect(closed(all, all)).toEqual([]);
});

test("the bounds are a quarter of the files that the process may have open at most", () => {
  expect(boundsWithin(512, 65_536)).toEqual({ connections_max: 512, connections_of_client_max: 128 });
  expect(boundsWithin(8192, 1024)).toEqual({ connections_max: 256, connections_of_client_max: 64 });
});

test.each(["127.0.0.1", "::"])(
  "at %s the connections that a server accepted are found, and end",
  async (hostname) => {
    using server = Bun.serve({ hostname, port: 0, fetch: () => new Response("here") });
    const port = server.port ?? 0;
    const files = new OpenFiles();
    const ended = Promise.withResolvers<void>();
    const client = await Bun.connect({
      hostname: "127.0.0.1",
      port,
      socket: { data() {}, end: () => ended.resolve() },
    });
    const [accepted, ...others] = await eventually(() => {
      const found = acceptedAt(port, files.list());
      return found.length > 0 ? found : undefined;
    }, "the connection");
    expect(others).toEqual([]);
    expect(accepted).toMatchObject({ network: "127.0.0.1", port: client.localPort });
    if (accepted !== undefined) end(accepted);
    await ended.promise;
    await eventually(() => (acceptedAt(port, files.list()).length === 0 ? true : undefined), "its end");
    files.close();
  },
);

test("an IPv6 client counts as its /64", async () => {
  using server = Bun.serve({ hostname: "::1", port: 0, fetch: () => new Response("here") });
  const files = new OpenFiles();
  using _client = await Bun.connect({ hostname: "::1", port: server.port ?? 0, socket: { data() {} } });
  const accepted = await eventually(() => acceptedAt(server.port ?? 0, files.list())[0], "the connection");
  expect(accepted.network).toBe("0000:0000:0000:0000::/64");
  files.close();
});
