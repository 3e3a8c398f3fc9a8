import { expect, test } from "bun:test";
import { sourceFiles } from "./source.ts";

/** Names of one subject each that everything may use: they import nothing but each other. */
const foundation =
  /^src\/(?!main\.|gateway\.|driver-host\.|read-only-gateway\.|central\.)[a-z-]+\.ts$|^src\/(records|config|disk)\//;
/** Files that a driver may import from the rest. */
const driverContract =
  /^src\/(reading|clock|device-facts|durations|decoding-bounds|errors|event-words|json-decoder|libc|log|kinds|quantities|series)\.ts$|^src\/disk\/durable-file\.ts$|^drivers\/(driver|peripheral)\.ts$|^drivers\/wire\//;
/** Composition roots: they alone know the drivers and put the layers together. */
const composition =
  /^src\/(gateway|driver-host|read-only-gateway|central)\.ts$|^src\/(commands|demo|uploader)\//;
const entry = /^src\/main\.ts$/;
const proof = /^(test|scripts)\/|\/test\//;

/** For each place: what it may import besides its own folder. The first row that matches a file holds. */
const rules: readonly { of: RegExp; may: RegExp; why: string }[] = [
  { of: proof, may: /./, why: "tests and benchmarks reach everything" },
  {
    of: entry,
    may: /^src\/(commands\/|disk\/disk-fault\.ts|errors\.ts|log\.ts|clock\.ts|version\.ts)/,
    why: "the entry file only dispatches",
  },
  {
    of: composition,
    may: /^(src|drivers)\/|^systemd\/lintel\.toml$/,
    why: "composition roots reach everything",
  },
  { of: /^src\/version\.ts$/, may: /^package\.json$/, why: "the release stands in package.json" },
  { of: foundation, may: foundation, why: "the foundation knows no layer" },
  { of: /^src\/store\//, may: foundation, why: "the store knows only what it stores" },
  {
    of: /^src\/sync\//,
    may: new RegExp(
      `${foundation.source}|^src/store/(store|record-store|upload-store|central-store|batch|intake|series-columns|device-health|day-digest|erasure)\\.ts$|^src/http(-client)?/`,
    ),
    why: "sync knows the stores at both ends, how HTTP is served here, and how it is asked",
  },
  {
    of: /^src\/http\//,
    may: new RegExp(`${foundation.source}|^src/store/store\\.ts$`),
    why: "listening, admission and tokens are below every interface that is served",
  },
  {
    of: /^src\/http-client\//,
    may: foundation,
    why: "whoever asks over HTTP brings along what is asked for",
  },
  {
    of: /^src\/download\//,
    may: new RegExp(`${foundation.source}|^src/http-client/|^src/meaning/(missing-minutes|sleep)\\.ts$`),
    why: "a download asks a server, and a file is written of rows, wherever they come from; days are added up and sleep is joined as meaning has them",
  },
  {
    of: /^src\/update\//,
    may: new RegExp(
      `${foundation.source}|^src/http-client/|^src/control/(client|status)\\.ts$|^src/store/(cadence|sqlite/connection)\\.ts$`,
    ),
    why: "an update asks a web server and the running gateway, and touches data by commands of a release",
  },
  {
    of: /^src\/tls\//,
    may: foundation,
    why: "a certificate is made and kept without knowing who serves with it",
  },
  {
    of: /^src\/(ingest|metrics)\//,
    may: new RegExp(`${foundation.source}|^src/store/store\\.ts$|^src/http/`),
    why: "layers meet only at the store",
  },
  {
    of: /^src\/dashboard\//,
    may: new RegExp(
      `${foundation.source}|^src/store/(store|seen-store|given-names|cadence)\\.ts$|^src/(http|meaning)/|^src/download/(column|text-formats)\\.ts$`,
    ),
    why: "pages show what the store has and what readings mean, and hand it out in the files that downloads write",
  },
  {
    of: /^src\/api\//,
    may: new RegExp(`${foundation.source}|^src/store/(store|seen-store)\\.ts$|^src/http/`),
    why: "what is served to holders of tokens meets other layers only at the store, as the token may see it",
  },
  {
    of: /^src\/import\//,
    may: new RegExp(`${foundation.source}|^src/store/(store|record-store|address)\\.ts$`),
    why: "an import knows records and the store they go to",
  },
  {
    of: /^src\/meaning\//,
    may: new RegExp(`${foundation.source}|^src/store/(store|cadence|given-names)\\.ts$`),
    why: "meaning is found in readings, wherever they are kept",
  },
  {
    of: /^src\/control\//,
    may: new RegExp(`${foundation.source}|^src/store/(store|given-names)\\.ts$|^drivers/driver\\.ts$`),
    why: "the control socket speaks of drivers and items but owns neither",
  },
  {
    of: /^drivers\/index\.ts$/,
    may: /^drivers\/[^/]+\/(driver|peripheral)\.ts$|^drivers\/(driver|peripheral)\.ts$/,
    why: "the one list of drivers",
  },
  { of: /^clients\//, may: /^(?!)/, why: "a client is copied into other programs, and stands alone" },
  { of: /^drivers\/native\//, may: /^(?!)/, why: "native packages stand alone" },
  { of: /^drivers\//, may: driverContract, why: "drivers know the contract and never each other" },
];

test("every import goes where ARCHITECTURE.md says data flows", async () => {
  const faults: string[] = [];
  for (const file of await sourceFiles()) {
    const rule = rules.find(({ of }) => of.test(file.path));
    if (rule === undefined) {
      faults.push(`${file.path}: stands in no known place`);
      continue;
    }
    for (const to of file.imports)
      if (home(to) !== home(file.path) && !rule.may.test(to))
        faults.push(`${file.path} imports ${to}: ${rule.why}`);
  }
  expect(faults).toEqual([]);
});

test("no files import each other in a circle", async () => {
  const imports = new Map((await sourceFiles()).map((file) => [file.path, file.imports]));
  const circles: string[] = [];
  const seen = new Set<string>();
  const follow = (path: string, from: readonly string[]) => {
    if (from.includes(path)) circles.push([...from.slice(from.indexOf(path)), path].join(" -> "));
    if (seen.has(path)) return;
    seen.add(path);
    for (const to of imports.get(path) ?? []) follow(to, [...from, path]);
  };
  for (const path of imports.keys()) follow(path, []);
  expect(circles).toEqual([]);
});

test("nobody imports an entry file, and only the demo and proofs import simulators", async () => {
  const faults: string[] = [];
  for (const file of await sourceFiles())
    for (const to of file.imports) {
      if (entry.test(to)) faults.push(`${file.path} imports the entry ${to}`);
      const simulator = /^drivers\/[^/]+\/simulator/.test(to);
      const allowed =
        proof.test(file.path) || /\/simulator[/.]/.test(file.path) || /^src\/demo/.test(file.path);
      if (simulator && !allowed) faults.push(`${file.path} imports the simulator ${to}`);
    }
  expect(faults).toEqual([]);
});

test("every source file is reached from an entry, a worker or a test", async () => {
  const files = await sourceFiles();
  const entries = files.filter(
    ({ path }) =>
      entry.test(path) ||
      proof.test(path) ||
      /^src\/dashboard\/browser\/main\.tsx$/.test(path) ||
      /^drivers\/native\/[^/]+\/index\.ts$/.test(path) ||
      /\/simulator\/main\.ts$/.test(path) ||
      /^clients\/[^/]+\/client\.ts$/.test(path),
  );
  // A file that only a test reaches is dead too, so tests are left out of the walk.
  const walk = entries.filter(({ path }) => !/^test\/|\/test\//.test(path)).map(({ path }) => path);
  const reached = new Set(walk);
  for (let path = walk.pop(); path !== undefined; path = walk.pop())
    for (const to of files.find((file) => file.path === path)?.imports ?? [])
      if (!reached.has(to)) {
        reached.add(to);
        walk.push(to);
      }
  const dead = files
    .map(({ path }) => path)
    .filter(
      // Declarations reach the type checker by themselves.
      (path) => !reached.has(path) && !proof.test(path) && !path.endsWith(".d.ts"),
    );
  expect(dead).toEqual([]);
});

/** The folder that counts as one house: its files may import each other freely. */
function home(path: string): string {
  const [first, second, third] = path.split("/");
  if (first === "drivers" && second === "native") return `drivers/native/${third}`;
  if (second !== undefined && third !== undefined) return `${first}/${second}`;
  return path;
}
