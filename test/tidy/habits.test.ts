import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { markdownFiles, wrapped } from "../../scripts/wrap-markdown.ts";
import { documentsHere } from "../../src/web/docs/documents.ts";
import { repositoryFiles, root, sourceFiles } from "../../testbed/source-files.ts";

const files = await sourceFiles();
const program = files.filter(({ path }) => /^(src|drivers)\//.test(path) && !path.includes("/test/"));

/** `path:line: text` of every line that matches. */
function linesWith(
  pattern: RegExp,
  of: readonly Pick<(typeof program)[number], "path" | "text">[] = program,
): string[] {
  return of.flatMap(({ path, text }) =>
    text
      .split("\n")
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}

test("files are named for one subject, in lower case with dashes", async () => {
  const vague = /(^|\/)(utils?|helpers?|common|managers?|types|misc|shared|lib)(\.ts|\/)/;
  const odd = files.filter(({ path }) => vague.test(path) || !/^[a-z0-9./-]+$/.test(path));
  expect(odd.map(({ path }) => path)).toEqual([]);
});

test("a file has one subject: 450 lines at most, and nine in ten below 300", () => {
  const lines = files.map(({ path, text }) => ({ path, count: text.split("\n").length }));
  expect(lines.filter(({ count }) => count > 450)).toEqual([]);
  expect(lines.filter(({ count }) => count > 300).length).toBeLessThanOrEqual(Math.ceil(lines.length / 10));
});

test("time and waiting are injected: nothing reads a clock or starts a timer of its own", () => {
  const own = /\bDate\.now\(|\bnew Date\(\)|\bsetTimeout\(|\bsetInterval\(|\bBun\.sleep\b|\bMath\.random\(/;
  // The clock itself; native packages, which stand alone; ptys, simulators and the demo, which play the world outside; what runs in a browser.
  const outside =
    /^src\/(base\/clock\.ts|demo|web\/pages\/browser\/)|^drivers\/(native\/|wire\/pty\.ts)|\/simulator[/.]/;
  const within = program.filter(({ path }) => !outside.test(path));
  expect(linesWith(own, within)).toEqual([]);
});

test("no time is that of the zone of the process: a home has its own, and all else is of GMT", () => {
  const local = /\.[gs]et(FullYear|Month|Date|Day|Hours|Minutes)\(|\.toLocale(Date|Time)String\(/;
  // The timer of the upload and the demo are of the machine that they run on.
  const ofMachine = /^src\/(gateway\/gateway-status\.ts|cli\/demo\.ts|demo\/)/;
  const within = program.filter(({ path }) => !ofMachine.test(path));
  expect(linesWith(local, within)).toEqual([]);
});

test("pages have one place that writes dates, numbers and lists, in English: none goes by the machine or the browser", () => {
  const pages = program.filter(({ path }) => /^src\/web\/pages\/(?!time-text\.ts)/.test(path));
  expect(linesWith(/\bIntl\.|\.toLocaleString\(/, pages)).toEqual([]);
});

test("type and room of every page are steps of one scale, but on paper and of letters themselves", async () => {
  const styles = (await repositoryFiles()).filter((path) => /^src\/.*\.css$/.test(path));
  expect(styles.length).toBeGreaterThan(5);
  const sheets = await Promise.all(
    styles.map(async (path) => ({ path, text: await Bun.file(join(root, path)).text() })),
  );
  const literal = /^\s*(font-size|(row-|column-)?gap|(margin|padding)(-\w+)*):[^;]*\b\d*\.?\d+(rem|px)\b/;
  expect(linesWith(literal, sheets)).toEqual([]);
});

test("nothing is printed but by the log and the commands", () => {
  const printers = /^src\/(main\.ts|commands\/|demo)|\/simulator\/main\.ts$/;
  expect(
    linesWith(
      /\bconsole\.\w+\(/,
      program.filter(({ path }) => !printers.test(path)),
    ),
  ).toEqual([]);
});

test("a docstring begins with its subject, never with a relative clause", () => {
  const begun = /\/\*\*[\s*]*What\b.*/g;
  const late = files.flatMap(({ path, text }) =>
    [...text.matchAll(begun)].map(([found]) => `${path}: ${found}`),
  );
  expect(late).toEqual([]);
});

test("nothing is left for later, commented out or silenced", () => {
  expect(
    linesWith(
      /\b(TODO|FIXME|XXX|HACK)\b/,
      files.filter(({ path }) => !path.startsWith("test/tidy/")),
    ),
  ).toEqual([]);
  expect(linesWith(/^\s*\/\/\s*(const|let|import|return|if \(|for \(|await )\b.*[;{]\s*$/)).toEqual([]);
  expect(linesWith(/@ts-(ignore|nocheck)|catch\s*(\(\w*\)\s*)?\{\s*\}/)).toEqual([]);
});

test("no test names a limit of time: test/time-limit.ts has the one for all, which a busy machine keeps", () => {
  // As the formatter leaves the last argument: behind the brace, or on a line of its own.
  const limit =
    /^(?: *\}|(?:before|after)(?:All|Each)\(.*)(?:, [\d_]{4,}\);|,\n *(?:[\d_]{4,}|\w+_ms(?:_max)?),\n *\);)$|(?<!\.)\bsetDefaultTimeout\(/gm;
  const own = files
    .filter(({ path }) => /(^|\/)test(bed)?\//.test(path) && path !== "test/time-limit.ts")
    .flatMap(({ path, text }) => [...text.matchAll(limit)].map(([found]) => `${path}: ${found}`));
  expect(own).toEqual([]);
});

test("barrels exist only where packages begin: drivers/index.ts and the native packages", () => {
  const barrels = files.filter(
    ({ path }) =>
      /(^|\/)index\.ts$/.test(path) && !/^drivers\/(index\.ts$|native\/[^/]+\/index\.ts$)/.test(path),
  );
  expect(barrels.map(({ path }) => path)).toEqual([]);
});

test("dependencies are pinned exactly, and docs/dependencies.md says what each is for", async () => {
  const table = await Bun.file(join(root, "docs/dependencies.md")).text();
  const faults: string[] = [];
  for (const manifest of (await repositoryFiles()).filter((path) => /(^|\/)package\.json$/.test(path))) {
    const { dependencies, devDependencies } = await Bun.file(join(root, manifest)).json();
    for (const [name, version] of Object.entries<string>({ ...dependencies, ...devDependencies })) {
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        faults.push(`${manifest}: ${name} is ${version}, not one version`);
      if (!table.includes(`| \`${name}\` `)) faults.push(`docs/dependencies.md has no row for ${name}`);
    }
  }
  expect(faults).toEqual([]);
});

test("every package that the source imports is a declared dependency", async () => {
  const { dependencies, devDependencies, overrides } = await Bun.file(join(root, "package.json")).json();
  // epoll is what onoff asks for: the override provides it.
  const declared = new Set(Object.keys({ ...dependencies, ...devDependencies, ...overrides }));
  const faults = files
    .filter(({ path }) => !path.startsWith("drivers/native/"))
    .flatMap(({ path, packages }) =>
      packages
        .filter((name) => !/^(node:|bun:|bun$)/.test(name))
        .map((name) =>
          name
            .split("/")
            .slice(0, name.startsWith("@") ? 2 : 1)
            .join("/"),
        )
        .filter((name) => !declared.has(name))
        .map((name) => `${path} imports ${name}`),
    );
  expect(faults).toEqual([]);
});

test("links between the documents lead somewhere", async () => {
  const faults: string[] = [];
  for (const path of (await repositoryFiles()).filter((name) => name.endsWith(".md"))) {
    const text = await Bun.file(join(root, path)).text();
    for (const [, target] of text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g))
      if (target !== undefined && !/^[a-z]+:/.test(target) && !existsSync(join(root, dirname(path), target)))
        faults.push(`${path} links to ${target}`);
  }
  expect(faults).toEqual([]);
});

test("the READMEs of the clients stand alone in a registry, and name pages that every server has", async () => {
  const pages = new Set(documentsHere()?.files.keys());
  const faults: string[] = [];
  for (const client of ["python", "r", "typescript"]) {
    const path = `clients/${client}/README.md`;
    const text = await Bun.file(join(root, path)).text();
    const named = [...text.matchAll(/`\/docs\/([^`]+)`/g)].map(([, name]) => name ?? "");
    if (named.length === 0) faults.push(`${path} names no page`);
    for (const name of named) if (!pages.has(name)) faults.push(`${path} names /docs/${name}`);
    for (const [link] of text.matchAll(/\]\((?!https:)[^)]*\)/g)) faults.push(`${path} links to ${link}`);
  }
  expect(faults).toEqual([]);
});

test("the documents name no file, benchmark or trial that is not there", async () => {
  const paths = await repositoryFiles();
  const folders = new Set(paths.flatMap((path) => [dirname(path), dirname(dirname(path))]));
  const faults: string[] = [];
  for (const path of paths.filter((name) => name.endsWith(".md") && name !== "CHANGELOG.md")) {
    const text = await Bun.file(join(root, path)).text();
    const isThere = (name: string) =>
      paths.some((known) => known === name || known.endsWith(`/${name}`)) ||
      folders.has(name.replace(/\/$/, "")) ||
      existsSync(join(root, dirname(path), name)) ||
      new Bun.Glob(name).scanSync({ cwd: root }).next().done === false;
    for (const [, name = ""] of text.matchAll(
      /`((?:src|drivers|scripts|systemd|test|docs|clients)\/[\w./*-]*|[\w./-]+\.(?:ts|sql|sh|service|timer))`/g,
    ))
      if (!isThere(name)) faults.push(`${path} names ${name}`);
    for (const [, kind, name] of text.matchAll(/scripts\/(bench|trials) ([a-z][\w-]*)/g)) {
      const programs = paths.filter((known) =>
        known.startsWith(kind === "bench" ? "scripts/benchmarks/" : "scripts/trial-programs/"),
      );
      if (!programs.some((known) => known.endsWith(`/${name}.ts`)))
        faults.push(`${path} names the ${kind} ${name}`);
    }
  }
  expect(faults).toEqual([]);
});

test("the documents are wrapped: bun scripts/wrap-markdown.ts does it", async () => {
  const texts = (await markdownFiles()).map(async (path) => ({
    path,
    text: await Bun.file(join(root, path)).text(),
  }));
  const unwrapped = (await Promise.all(texts)).filter(({ text }) => wrapped(text) !== text);
  expect(unwrapped.map(({ path }) => path)).toEqual([]);
});

test("the source is formatted, and passes the linter and the type checker", () => {
  const bin = join(root, "node_modules/.bin");
  for (const command of [
    [join(bin, "biome"), "check", "--error-on-warnings", "."],
    // Threads would each check what they have in common.
    [join(bin, "tsc"), "--noEmit", "--singleThreaded"],
  ]) {
    const run = Bun.spawnSync(command, { cwd: root });
    expect(run.exitCode === 0 ? "" : `${run.stdout}${run.stderr}`).toBe("");
  }
});
