import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type LintelProcess, Site } from "../../testbed/front-door.ts";
import { postgresServer } from "../../testbed/postgres/server.ts";
import { sensor } from "../../testbed/sample.ts";
import { encoded, gatewayOf } from "../central/receiver/receiving.ts";

let site: Site;
beforeEach(() => {
  site = new Site();
});
afterEach(() => site.remove());

const tlsFile = (name: string) => new URL(`../golden/api-tls/${name}`, import.meta.url).pathname;

async function central(
  store: readonly string[],
  ...words: string[]
): Promise<{ process: LintelProcess; url: string; dashboard: string }> {
  const process = site.spawn([
    "central",
    "--listen",
    "127.0.0.1",
    "--port",
    "0",
    "--json",
    ...store,
    ...words,
  ]);
  const line = await process.line();
  if (line === undefined) throw new Error(`central did not start: ${await process.said()}`);
  return { process, ...(JSON.parse(line) as { url: string; dashboard: string }) };
}

async function token(store: readonly string[], ...words: string[]): Promise<string> {
  const { out, said } = await site.lintel("token", "create", "test", "--json", ...store, ...words);
  if (out === "") throw new Error(said);
  return (JSON.parse(out) as { token: string }).token;
}

/** Uploads ten readings of home 12, and reads them back as a researcher does. */
async function roundTrip(url: string, store: readonly string[]): Promise<void> {
  const sent = await fetch(new URL("/sync/v1/batches", url), {
    method: "POST",
    headers: {
      authorization: `bearer ${await token(store, "--scope", "sync", "--home", "12")}`,
      "content-type": "application/vnd.lintel.batch",
    },
    body: encoded(gatewayOf(12, 10).all()),
  });
  expect(await sent.json()).toEqual({ held_seq: 10, taken: 10 });
  const headers = { authorization: `bearer ${await token(store)}`, accept: "application/json" };
  const [item] = (await (await fetch(`${url}/inventory/wirelesssensors`, { headers })).json()) as {
    itemname: string;
    currenthomeid: number;
  }[];
  expect(item?.currenthomeid).toBe(12);
  const events = await fetch(`${url}/items/wirelesssensors/${item?.itemname}/events`, { headers });
  expect(await events.json()).toHaveLength(10);
  const { out } = await site.lintel("items", "--json", ...store);
  expect(JSON.parse(out)).toMatchObject([{ itemname: item?.itemname, provisional: true }]);
}

describe.each(["SQLite", "PostgreSQL"] as const)("central on %s", (kind) => {
  async function place(): Promise<{ store: string[] } & AsyncDisposable> {
    if (kind === "SQLite") {
      return { store: ["--data", join(site.directory, "central")], [Symbol.asyncDispose]: async () => {} };
    }
    const database = await (await postgresServer()).database();
    return {
      store: ["--database", database.url],
      [Symbol.asyncDispose]: () => database[Symbol.asyncDispose](),
    };
  }

  test("sets an empty store up, takes uploads in, serves them, and commands work beside it", async () => {
    await using made = await place();
    const { process, url, dashboard } = await central(made.store);
    expect(new URL(dashboard).origin).toBe(new URL(url).origin);
    await roundTrip(url, made.store);
    const fleet = await site.lintel("fleet", "--json", ...made.store);
    expect(JSON.parse(fleet.out)).toMatchObject([{ homeid: 12 }]);
    process.kill("SIGTERM");
    expect(await process.exited).toBe(0);
    expect(await process.said()).toContain(`serving ${url} from`);
  });

  test("goes on after kill -9 with everything that it had confirmed", async () => {
    await using made = await place();
    const first = await central(made.store);
    await roundTrip(first.url, made.store);
    first.process.kill("SIGKILL");
    await first.process.exited;
    const again = await central(made.store);
    const headers = { authorization: `bearer ${await token(made.store)}`, accept: "application/json" };
    const items = await fetch(`${again.url}/inventory/wirelesssensors`, { headers });
    expect(await items.json()).toHaveLength(1);
    again.process.kill("SIGINT");
    expect(await again.process.exited).toBe(0);
  });
});

test("a copy of central's store, made beside it, goes on as a central elsewhere", async () => {
  const store = ["--data", join(site.directory, "central")];
  const backup = join(site.directory, "backup");
  const first = await central(store);
  await roundTrip(first.url, store);
  expect(await site.lintel("backup", backup, ...store)).toMatchObject({ code: 0 });
  const other = ["--data", join(site.directory, "elsewhere")];
  const { code, said } = await site.lintel("restore", backup, ...other);
  expect([code, said]).toEqual([0, expect.stringMatching(/^Next: lintel central, and lintel fleet .*\n$/m)]);
  const again = await central(other);
  const headers = { authorization: `bearer ${await token(other)}`, accept: "application/json" };
  const items = await fetch(`${again.url}/inventory/wirelesssensors`, { headers });
  expect(await items.json()).toHaveLength(1);
});

test("import, items, export and report work on the database that --database names", async () => {
  await using database = await (await postgresServer()).database();
  const store = ["--database", database.url];
  const file = join(site.directory, "programme.json");
  writeFileSync(
    file,
    JSON.stringify({
      items: [{ itemid: 7, itemname: "hall", typename: "wirelesssensors", macaddress: sensor(12).address }],
    }),
  );
  const imported = await site.lintel("import", file, ...store, "--new", "--json");
  expect([imported.code, imported.said]).toEqual([0, ""]);
  const { process, url } = await central(store);
  const sent = await fetch(new URL("/sync/v1/batches", url), {
    method: "POST",
    headers: {
      authorization: `bearer ${await token(store, "--scope", "sync", "--home", "12")}`,
      "content-type": "application/vnd.lintel.batch",
    },
    body: encoded(gatewayOf(12, 10).all()),
  });
  expect(sent.status).toBe(200);
  const { out } = await site.lintel("items", "--json", ...store);
  expect(JSON.parse(out)).toMatchObject([{ itemname: "hall", provisional: false, series: [{ count: 10 }] }]);
  const csv = join(site.directory, "events.csv");
  const series = ["--series", "wirelesssensor_events", "--format", "csv", "--output", csv];
  const exported = await site.lintel("export", ...series, ...store);
  expect([exported.code, (await Bun.file(csv).text()).trimEnd().split("\n").length]).toEqual([0, 11]);
  const report = await site.lintel("report", "--json", ...store);
  expect(JSON.parse(report.out)).toMatchObject({ pillboxes: [], walking: [] });
  process.kill("SIGTERM");
  expect(await process.exited).toBe(0);
});

test("central whose data are moved away under it says so and ends with 1", async () => {
  const data = join(site.directory, "central");
  const { process } = await central(["--data", data]);
  renameSync(join(data, "lintel.db"), join(data, "moved.db"));
  expect(await process.exited).toBe(1);
  expect(await process.said()).toContain(`${data}/lintel.db`);
});

test("central serves TLS, and metrics where it is told to", async () => {
  const store = ["--data", join(site.directory, "central")];
  const tls = ["--tls-certificate", tlsFile("certificate.pem"), "--tls-key", tlsFile("key.pem")];
  const { url } = await central(store, "--metrics", ...tls);
  expect(url).toStartWith("https://127.0.0.1:");
  const ca = await Bun.file(tlsFile("certificate.pem")).text();
  const headers = { authorization: `bearer ${await token(store)}` };
  const metrics = await fetch(new URL("/metrics", url), {
    headers,
    tls: { ca, checkServerIdentity: () => undefined },
  });
  expect(await metrics.text()).toContain("lintel_homes 0\n");
});

describe("a start that cannot succeed is one line, a remedy and exit 2:", () => {
  test.each([
    [
      ["--data", "x", "--database", "postgres://h/d"],
      /--data and --database both name a store: give one of them$/,
    ],
    [["--database", "mysql://h/d"], /that is not the URL of a PostgreSQL database: write it as postgres:/],
    [["--database", "postgres://127.0.0.1:9/lintel"], /cannot be reached: check the host and port/],
    [["--data", "/dev/null/x"], /\/dev\/null\/x is not a directory: set `data` to a directory$/],
    [["--port", "70000"], /port/],
    [["--listen", "no address"], /It must be an address/],
    [
      ["--data", "d", "--tls-key", "k"],
      /TLS needs a certificate and a key, and there is --tls-key alone: give both --tls-certificate and --tls-key/,
    ],
    [
      ["--data", "d", "--tls-key", "k", "--tls-certificate", "c"],
      /TLS certificate .*\/c cannot be read .*: let --tls-certificate name/,
    ],
    [["--data", "d", "--listen", "203.0.113.9"], /this machine does not have that address: set --listen to/],
  ])("%j", async (words, said) => {
    const end = await site.lintel("central", "--port", "0", ...words);
    const lines = end.said.trimEnd().split("\n");
    expect([end.code, end.out]).toEqual([2, ""]);
    expect(lines.at(-1)).toMatch(said);
  });

  test("a port that another program has, and nothing is made", async () => {
    const other = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => {} } });
    const data = join(site.directory, "not-made");
    const end = await site.lintel(
      "central",
      "--listen",
      "127.0.0.1",
      "--port",
      `${other.port}`,
      "--data",
      data,
    );
    other.stop(true);
    expect([end.code, end.out]).toEqual([2, ""]);
    expect(end.said).toContain("another program has the port: ");
    expect(existsSync(data)).toBe(false);
  });

  test("a directory that is a gateway's, and one that another central has", async () => {
    site.configure();
    const gateway = await site.run();
    const asCentral = await site.lintel("central", "--port", "0", "--data", site.data);
    expect([asCentral.code, asCentral.said]).toEqual([2, expect.stringContaining(site.data)]);
    await gateway.stop();
    const after = await site.lintel("central", "--port", "0", "--data", site.data);
    expect([after.code, after.said]).toEqual([2, expect.stringContaining("holds the store of a gateway")]);
    const store = ["--data", join(site.directory, "central")];
    await central(store);
    const second = await site.lintel("central", "--port", "0", ...store);
    expect([second.code, second.said]).toEqual([2, expect.stringMatching(/lintel: .*central.*\n$/)]);
  });
});

test("the database that LINTEL_DATABASE names is used where no option names a store", async () => {
  await using database = await (await postgresServer()).database();
  const named = { LINTEL_DATABASE: database.url };
  const words = ["token", "create", "x", "--json"];
  for (const refused of [words, ["items"], ["fleet"]]) {
    const empty = site.spawn(refused, named);
    expect([refused, await empty.exited]).toEqual([refused, 2]);
    expect(await empty.said()).toMatch(
      /^lintel: there is no Lintel database in .* `lintel central` set this one up/,
    );
  }
  const process = site.spawn([...words, "--new"], named);
  const { token: made } = JSON.parse((await process.line()) ?? "{}") as { token?: string };
  expect(made).toMatch(/^[a-z2-9]{12}\./);
  const { out } = await site.lintel("token", "list", "--json", "--database", database.url);
  expect(JSON.parse(out)).toMatchObject([{ name: "x" }]);
  const data = join(site.directory, "other");
  const beside = site.spawn(["token", "list", "--json", "--data", data], { LINTEL_DATABASE: database.url });
  expect(await beside.exited).toBe(2);
});
