import { afterAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import packageFile from "../../package.json" with { type: "json" };
import { commands } from "../../src/cli/command-table.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { lintel, Site } from "../../testbed/front-door.ts";

const site = new Site();
afterAll(() => site.remove());

test("help lists every command, and each command's help has examples and exit codes", async () => {
  const { code, out } = await site.lintel("--help");
  expect(code).toBe(0);
  const names = Object.keys(commands);
  for (const command of names) expect(out).toMatch(new RegExp(`^  ${command} .*\\S`, "m"));
  const helps = await Promise.all(names.map((command) => site.lintel(command, "--help")));
  for (const help of helps) {
    expect(help.code).toBe(0);
    expect(help.out).toContain("Examples:");
    expect(help.out).toContain("Exit codes:");
  }
});

test("without a command it shows its help; with --version its version", async () => {
  expect((await site.lintel()).out).toContain("Usage: lintel");
  const { code, out, said } = await site.lintel("--version");
  expect([code, said]).toEqual([0, ""]);
  // Behind the release stands the commit, where the checkout is one of git's.
  expect(out.split("+")[0]).toBe(packageFile.version);
  expect(out).toMatch(/^[\d.]+(\+[0-9a-f]{10}(\.changed)?)?$/);
});

const mistakes: readonly [words: string[], said: string][] = [
  [["tokn"], "lintel: unknown command 'tokn' (Did you mean token?): see lintel --help\n"],
  [["items", "--jsn"], "lintel: unknown option '--jsn' (Did you mean --json?): see lintel items --help\n"],
  [["token", "revoke"], "lintel: missing required argument 'id': see lintel token revoke --help\n"],
  [
    ["pair", "--seconds", "255"],
    "lintel: option '--seconds <n>' argument '255' is invalid. It must be a whole number from 1 to 254: see lintel pair --help\n",
  ],
  [
    ["token", "create", "maria", "--expires", "soon"],
    "lintel: option '--expires <span>' argument 'soon' is invalid. It must be a span such as 12h, 90d, 8w or 2y, at most 100y: see lintel token create --help\n",
  ],
  [
    ["token", "create", "ma\u001b[2Jria\n", "--data", "x"],
    'lintel: "ma\\u001b[2Jria\\n" is not a name for a token: give 1 to 100 characters on one line that say who holds it\n',
  ],
  [
    ["token", "create", "maria", "--scope", "admin", "--home", "12", "--data", "x"],
    "lintel: --home does not bind admin tokens: leave it out, or add --scope read\n",
  ],
  [
    ["token", "create", "box", "--scope", "sync", "--home", "12", "--study", "4", "--data", "x"],
    "lintel: --study does not bind sync tokens: bind a sync token by --home alone\n",
  ],
  [
    ["token", "create", "box", "--scope", "sync", "--home", "12", "--home", "13", "--data", "x"],
    "lintel: a sync token is of one home, and --home names several: make one for each\n",
  ],
  [
    ["token", "create", "maria", "--project", "P3", "--data", "x"],
    "lintel: option '--project <id>' argument 'P3' is invalid. It must be a whole number from 0 to 9007199254740991: see lintel token create --help\n",
  ],
  [
    ["items", "--data", "x", "--config", "y"],
    "lintel: --config and --data both name a store: give one of them\n",
  ],
];
for (const [at, [words, said]] of mistakes.entries()) {
  test(`a mistake on the command line is one line and exit 2: ${words.join(" ")}`, async () => {
    expect(await (at === 0 ? site.lintel(...words) : lintelHere(words))).toEqual({ code: 2, out: "", said });
  });
}

describe("a directory without a store", () => {
  const words = [
    ["items"],
    ["status"],
    ["fleet"],
    ["report"],
    ["export", "--series", "all"],
    ["backup", "copy"],
    ["token", "list"],
    ["token", "revoke", "k3v9x2m4p7qa"],
  ];
  test.each(words)("%s %s says what to do, and makes none", async (...given) => {
    const none = join(site.directory, "none");
    const { code, out, said } = await lintelHere([...given, "--data", none]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(said).toMatch(/^lintel: there is no Lintel database in \S+: (start|name) .*\n$/);
    expect(existsSync(none)).toBe(false);
  });

  const programme = () => {
    const file = join(site.directory, "programme.json");
    writeFileSync(file, '{"subjects": [{"subjectid": 1}]}');
    return file;
  };
  test.each([
    ["token create", () => ["token", "create", "maria"]],
    ["import", () => ["import", programme()]],
    ["import --dry-run", () => ["import", "--dry-run", programme()]],
  ])("%s fills one only with --new, which does no harm where there is one", async (name, given) => {
    const mistyped = join(site.directory, name.replaceAll(" ", ""));
    const { code, out, said } = await lintelHere([...given(), "--data", mistyped]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(said).toBe(
      `lintel: there is no Lintel database in ${mistyped}: name the data directory of the running server, or give --new to make one there\n`,
    );
    expect(existsSync(mistyped)).toBe(false);
    for (let time = 0; time < 2; time++)
      expect(await lintelHere([...given(), "--data", mistyped, "--new"])).toMatchObject({ code: 0 });
  });
});

test("a token is made, shown once, listed without its secret, and revoked", async () => {
  const data = join(site.directory, "tokens");
  const on = ["--data", data];
  const made = await site.lintel("token", "create", "maria", "--new", "--expires", "90d", "--json", ...on);
  expect(made.said).toBe("");
  const { id, token } = JSON.parse(made.out);
  expect(token).toStartWith(`${id}.`);
  const [listed] = JSON.parse((await site.lintel("token", "list", "--json", ...on)).out);
  expect(listed).toEqual({
    id,
    name: "maria",
    scope: "read",
    created_ms: expect.any(Number),
    expires_ms: expect.any(Number),
    expired: false,
  });
  expect(Math.round((listed.expires_ms - listed.created_ms) / 86_400_000)).toBe(90);
  const shown = await site.lintel("token", "list", ...on);
  expect(shown.out).toContain("maria");
  expect(shown.out).not.toContain(token.split(".")[1]);
  expect((await site.lintel("token", "revoke", token, ...on)).code).toBe(0);
  expect((await site.lintel("token", "revoke", id, ...on)).said).toBe(
    `lintel: there is no token ${id}: lintel token list shows those that there are\n`,
  );
  expect(JSON.parse((await site.lintel("token", "list", "--json", ...on)).out)).toEqual([]);
});

test("a token is listed with what it is bound to", async () => {
  const on = ["--data", join(site.directory, "bound")];
  const made = await site.lintel(
    ..."token create jon --home 13 --home 12 --home 13 --study 4 --new".split(" "),
    ...on,
  );
  expect([made.code, made.said]).toEqual([0, expect.stringContaining("read of homes 12, 13, studies 4")]);
  expect(made.said).toContain("there is no record of homes 12, 13 yet");
  await site.lintel("token", "create", "box", "--scope", "sync", "--home", "12", ...on);
  const listed = JSON.parse((await site.lintel("token", "list", "--json", ...on)).out);
  expect(listed).toMatchObject([
    { name: "jon", scope: "read", binding: { homes: [12, 13], projects: [], studies: [4] } },
    { name: "box", scope: "sync", home: 12 },
  ]);
  const shown = (await site.lintel("token", "list", ...on)).out;
  expect(shown).toContain("read of homes 12, 13, studies 4");
  expect(shown).toContain("sync of home 12");
});

test("a store is also found through its configuration, whatever drivers that names", async () => {
  const directory = join(site.directory, "configured");
  mkdirSync(directory);
  const config = join(directory, "lintel.toml");
  writeFileSync(config, 'data = "data"\n[unknown]\nkey = 1\n');
  expect((await site.lintel("token", "create", "maria", "--config", config)).code).toBe(0);
  expect((await site.lintel("token", "list", "--data", join(directory, "data"))).out).toContain("maria");
});

test("output is plain in a pipe and coloured where colour is forced", async () => {
  const plain = site.spawn(["--help"], { NO_COLOR: "" });
  expect(await plain.rest()).not.toContain("\u001b[");
  const forced = site.spawn(["--help"], { NO_COLOR: "", FORCE_COLOR: "1" });
  expect(await forced.rest()).toContain("\u001b[");
  const refused = site.spawn(["--help"], { NO_COLOR: "1", FORCE_COLOR: "1" });
  expect(await refused.rest()).not.toContain("\u001b[");
});

test("a reader that goes away ends a command quietly", async () => {
  const run = Bun.spawnSync(["sh", "-c", `"${lintel}" --help | true`]);
  expect(run.stderr.toString()).toBe("");
});

test("commands on the store are loaded without the radio libraries", async () => {
  const seen = new Set<string>();
  const packages = new Set<string>();
  const walk = async (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    const imports = new Bun.Transpiler({ loader: "ts" }).scanImports(await Bun.file(path).text());
    for (const found of imports) {
      if (found.kind === "dynamic-import") continue;
      if (!found.path.startsWith(".")) packages.add(found.path);
      else if (found.path.endsWith(".ts")) await walk(normalize(join(dirname(path), found.path)));
    }
  };
  for (const command of ["token", "items", "status", "pair"]) {
    await walk(join(import.meta.dir, `../../src/cli/${command}.ts`));
  }
  expect([...packages].filter((name) => /herdsman|serialport|onoff|elysia/.test(name))).toEqual([]);
  expect(packages.has("commander")).toBe(true);
});
