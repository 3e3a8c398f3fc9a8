import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { SystemClock } from "../../src/base/clock.ts";
import { openCentral } from "../../src/cli/store-place.ts";
import { type AccountTokens, accountOf, differences } from "../../testbed/central-account.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { Site } from "../../testbed/front-door.ts";
import { nightly } from "../../testbed/nightly.ts";
import { postgresServer } from "../../testbed/postgres/server.ts";
import { below, keptLog, seeded } from "../../testbed/sample.ts";
import { testAtNight } from "../at-night.ts";
import { fillCentral } from "../store/move/filled-central.ts";
import { filled, moved } from "../store/move/moving.ts";

let site: Site;
beforeEach(() => {
  site = new Site({ commands: lintelHere });
});
afterEach(() => site.remove());

const at = (name: string) => join(site.directory, name);

async function filledWith(directory: string, readings: number): Promise<AccountTokens> {
  const store = await openCentral({ directory }, { clock: new SystemClock(), log: keptLog().log });
  const tokens = await fillCentral(store, readings);
  await store.close();
  return tokens;
}

/** All that central serves from a store. */
async function served(store: string, tokens: AccountTokens): Promise<Map<string, string>> {
  const words = store.startsWith("postgres:") ? ["--database", store] : ["--data", store];
  const central = await site.central(...words);
  const account = await accountOf(central.origin, tokens, { limit: 100 });
  expect(await central.stop()).toBe(0);
  return account;
}

testAtNight(
  "what is moved from SQLite to PostgreSQL and back, killed again and again, is served byte for byte as before",
  async () => {
    await using database = await (await postgresServer()).database();
    const tokens = await filledWith(at("first"), 3_000);
    const before = await served(at("first"), tokens);
    expect(before.size).toBeGreaterThan(1_000);
    for (const [from, to] of [
      [at("first"), database.url],
      [database.url, at("last")],
    ] as const) {
      const { ended, last } = await moveInterrupted(from, to);
      expect(ended).toBeGreaterThan(0);
      expect(last).toContain("3 homes, 29 items and 28600 readings were moved, and compared by digests");
      expect(differences(before, await served(to, tokens))).toEqual([]);
    }
  },
);

const random = seeded(3);

/** Runs the command until it comes to its end, killed and interrupted in turns before; the later the longer it has run. */
async function moveInterrupted(from: string, to: string): Promise<{ ended: number; last: string }> {
  for (let ended = 0; ; ended += 1) {
    const move = site.spawn(["central", "move", "--from", from, "--to", to]);
    expect(await move.line()).toStartWith("Moving 28600 readings");
    const signal = ended % 2 === 0 ? "SIGKILL" : "SIGINT";
    if (ended < ended_max) {
      // Whenever that is: no moment of a move is better than another.
      await Bun.sleep(below(random, 50 * (ended + 1)));
      move.kill(signal);
    }
    const [code, last] = [await move.exited, await move.rest()];
    if (code === 0) return { ended, last };
    expect([signal, code]).toEqual(signal === "SIGINT" ? [signal, 130] : [signal, 137]);
  }
}

const ended_max = nightly ? 6 : 3;

test("a central that runs on either store keeps a move from beginning, and one that is begun keeps central from starting", async () => {
  await using database = await (await postgresServer()).database();
  const from = await filled(at("from"));
  const words = ["central", "move", "--from", from.directory, "--to", database.url];
  const onSqlite = await site.central("--data", from.directory);
  expect(await site.lintel(...words)).toMatchObject({
    code: 2,
    said: expect.stringContaining("is already running on"),
  });
  await onSqlite.stop();
  expect(await moved(from, { database: database.url }, { transactions_max: 3 })).toBeUndefined();
  for (const command of [
    ["central", "--port", "0"],
    ["token", "list"],
    ["token", "create", "x"],
  ])
    expect(await site.lintel(...command, "--database", database.url)).toMatchObject({
      code: 2,
      said: expect.stringContaining("give the same `lintel central move --from … --to …` again"),
    });
  expect((await site.lintel(...words)).code).toBe(0);
  const onPostgres = await site.central("--database", database.url);
  const back = await site.lintel("central", "move", "--from", database.url, "--to", at("back"));
  expect(back).toMatchObject({ code: 2, said: expect.stringContaining("stop every central on it first") });
  expect(existsSync(at("back"))).toBe(false);
  await onPostgres.stop();
});

test("what a store cannot be moved from or to is refused with its remedy, and nothing is changed", async () => {
  const server = await postgresServer();
  await using others = await server.database();
  await server.run("CREATE TABLE meta (anything text)", others.name);
  const from = await filled(at("from"));
  const other = await filled(at("other"));
  expect(await site.lintel("token", "create", "box", "--new", "--data", at("box"))).toMatchObject({
    code: 0,
  });
  site.configure({ data: at("box") });
  await (await site.run()).stop();
  for (const [source, target, said] of [
    [from.directory, from.directory, "--from and --to name the same store"],
    [from.directory, other.directory, `${other.directory} holds a store already: name an empty one`],
    [from.directory, others.url, "holds tables of another program"],
    [from.directory, "postgres://127.0.0.1:1/none", "cannot be reached"],
    [at("nowhere"), at("to"), `there is no Lintel database in ${at("nowhere")}`],
    [at("box"), at("to"), "holds the store of a gateway, not the store of a central server"],
    [others.url, at("to"), "there is no Lintel database in"],
  ] as const) {
    const refused = await site.lintel("central", "move", "--from", source, "--to", target);
    expect({ source, target, ...refused }).toMatchObject({
      code: 2,
      out: "",
      said: expect.stringContaining(said),
    });
  }
  expect([existsSync(at("nowhere")), existsSync(at("to"))]).toEqual([false, false]);
});
