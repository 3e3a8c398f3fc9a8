import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { lintel, Site } from "../../testbed/front-door.ts";

let site: Site;
let central: string;

/** Files below a directory that others than their owner may read, write or enter, each with its mode. */
function open(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    const mode = lstatSync(path).mode & 0o777;
    return (mode & 0o077) === 0 ? [] : [`${path.slice(directory.length + 1)} ${mode.toString(8)}`];
  });
}

/** Lintel on a machine where every file that is made is open to these others, in directories that are there already and open. */
function machine(umask: string): void {
  site = new Site({ program: ["sh", "-c", `umask ${umask} && exec "$0" "$@"`, lintel] });
  central = join(site.directory, "central");
  for (const directory of [site.data, central, made(), join(made(), "fetched")]) {
    mkdirSync(directory, { recursive: true });
    chmodSync(directory, 0o755);
  }
}

const made = () => join(site.directory, "made");

async function ran(...words: string[]): Promise<void> {
  const { code, said } = await site.lintel(...words);
  expect([words[0], code, said]).toEqual([words[0], 0, said]);
}

afterEach(() => site.remove());

describe.each(["000", "022"])("under a umask of %s", (umask) => {
  beforeEach(() => machine(umask));

  test("what a gateway makes in its data directory is its own", async () => {
    site.configure({ api: 'tls = "self-signed"', sections: '[zigbee]\nport = "/dev/none"' });
    const gateway = await site.run();
    await site.token();
    expect(open(site.data)).toEqual([]);
    await gateway.stop();
    expect(open(site.data)).toEqual([]);
  });

  test("what central, import, export, fetch, backup and restore make is their user's", async () => {
    const server = await site.central("--data", central);
    const store = ["--data", central];
    const programme = join(site.directory, "programme.json");
    writeFileSync(programme, JSON.stringify({ subjects: [{ subjectid: 1 }] }));
    await site.lintel("import", programme, ...store);
    await token();
    for (const format of ["csv", "parquet"]) {
      const series = ["--series", "wirelesssensor_events", "--format", format];
      await ran("export", ...series, "--output", join(made(), `events.${format}`), ...store);
    }
    const token_file = join(site.directory, "token");
    writeFileSync(token_file, await token(), { mode: 0o600 });
    const into = ["--output", join(made(), "fetched")];
    await ran("fetch", "--url", server.origin, "--token-file", token_file, ...into);
    await ran("backup", join(made(), "backup"), ...store);
    await ran("restore", join(made(), "backup"), "--data", join(made(), "spare"));
    expect(open(central)).toEqual([]);
    expect(open(made()).filter((path) => path !== "fetched 755")).toEqual([]);
  });
});

test("a database that was open to others is closed to them when it is opened", async () => {
  machine("022");
  const server = await site.central("--data", central);
  await token();
  const files = ["lintel.db", "lintel.db-wal", "lintel.db-shm"].map((name) => join(central, name));
  for (const file of files) chmodSync(file, 0o644);
  await token();
  expect(open(central)).toEqual([]);
  await server.stop();
  chmodSync(join(central, "lintel.db"), 0o664);
  await site.central("--data", central);
  expect(open(central)).toEqual([]);
});

async function token(): Promise<string> {
  return (await site.answer("token", "create", "maria", "--json", "--data", central)).token;
}
