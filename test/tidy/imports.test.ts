import { expect, test } from "bun:test";
import { sourceFiles } from "../../testbed/source-files.ts";

/** The layers below all others: any program's needs, the domain, configuration. */
const foundation = /^src\/(base|domain|config)\//;
/** Files that a driver may import from the rest. */
const driverContract =
  /^src\/base\/|^src\/domain\/(device-facts|event-words|kinds|mesh|quantities|reading|series)\.ts$|^drivers\/(driver|peripheral)\.ts$|^drivers\/wire\//;
/** Composition roots: they alone know the drivers and put the layers together. */
const composition =
  /^src\/gateway\/(gateway|read-only-gateway)\.ts$|^src\/central\/central\.ts$|^src\/(cli|demo)\/|^src\/gateway\/uploader\//;
const entry = /^src\/main\.ts$/;
const proof = /^(test|testbed|scripts)\/|\/test\//;
/** The faces of the store; which file of a database stands behind one is its own business. */
const store =
  /^src\/store\/(store|visible-store|erasure|pause|pause-requests|restriction|retention|note|note-requests|batch|exchange|derived\/(derived-rows|home-readings|places-in-home)|series\/(series-columns|coverage-intervals)|inventory\/(given-names|item-names|record-store|walking-lines)|gateway\/(gateway|upload)-store|central\/central-store)\.ts$/;

const and = (...all: readonly RegExp[]) => new RegExp(all.map(({ source }) => source).join("|"));

/** For each place: what it may import besides its own folder. The first row that matches a file holds. */
const rules: readonly { of: RegExp; may: RegExp; why: string }[] = [
  {
    of: /^testbed\//,
    may: /^(?!(test|scripts)\/)/,
    why: "what tests and scripts start and fill stands below both",
  },
  { of: /^scripts\//, may: /^(?!test\/)/, why: "what scripts share with tests stands in testbed/" },
  { of: /^test\/|\/test\//, may: /./, why: "tests reach everything" },
  { of: entry, may: /^src\/(cli|base)\//, why: "the entry file only dispatches" },
  {
    of: composition,
    may: /^(src|drivers)\/|^systemd\/lintel\.toml$/,
    why: "composition roots reach everything",
  },
  { of: /^src\/base\//, may: /^package\.json$/, why: "what any program needs knows none of this one" },
  { of: /^src\/domain\//, may: /^src\/base\//, why: "the domain knows no layer" },
  { of: /^src\/config\//, may: /^src\/(base|domain)\//, why: "configuration knows no layer" },
  { of: /^src\/store\//, may: foundation, why: "the store knows only what it stores" },
  { of: /^src\/web\/client\//, may: foundation, why: "the client does not know what is asked for" },
  {
    of: /^src\/web\/server\//,
    may: and(foundation, store),
    why: "the server is below every interface that it serves",
  },
  {
    of: /^src\/web\/(api|metrics)\//,
    may: and(foundation, store, /^src\/web\/server\//),
    why: "what is served meets other layers only at the store",
  },
  {
    of: /^src\/web\/docs\//,
    may: and(foundation, /^src\/web\/server\//),
    why: "documents have nothing of a home",
  },
  {
    of: /^src\/web\/pages\//,
    may: and(foundation, store, /^src\/web\/server\/|^src\/export\/(columns|text-formats)\.ts$/),
    why: "pages show what the store has, and hand it out in the files that downloads write",
  },
  {
    of: /^src\/export\//,
    may: and(foundation, store, /^src\/web\/client\/|^docs\/derived\.md$/),
    why: "a download asks a server or a store, and writes files of rows, wherever they come from; the page on measures is one of them",
  },
  {
    of: /^src\/import\//,
    may: and(foundation, store),
    why: "an import knows records and the store that they go to",
  },
  {
    of: /^src\/transfer\//,
    may: and(foundation, store, /^src\/web\/(server|client)\//),
    why: "the transfer knows the stores at both ends, and HTTP between them",
  },
  {
    of: /^src\/central\//,
    may: and(foundation, store, /^src\/(transfer|central)\/|^src\/web\/(server|client)\//),
    why: "central takes in what gateways transfer",
  },
  {
    of: /^src\/gateway\/ingest\//,
    may: and(foundation, store),
    why: "ingest meets the other layers only at the store",
  },
  {
    of: /^src\/gateway\/update\//,
    may: and(
      foundation,
      store,
      /^src\/web\/client\/|^src\/gateway\/(control-client|gateway-status|starts)\.ts$|^src\/store\/sqlite\/connection\.ts$/,
    ),
    why: "an update asks a web server and the running gateway, and touches data by commands of a release",
  },
  {
    of: /^src\/gateway\/remote\//,
    may: and(foundation, store, /^src\/(transfer|gateway)\/|^src\/web\/client\//),
    why: "the channel from the study asks central, and has the gateway do things",
  },
  {
    of: /^src\/gateway\//,
    may: and(
      foundation,
      store,
      /^src\/(transfer|gateway)\/|^src\/web\/server\/|^drivers\/(driver|peripheral)\.ts$/,
    ),
    why: "what runs in a gateway speaks of drivers and items but owns neither",
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
      /^src\/web\/(pages\/browser\/main\.tsx|docs\/search-in-browser\.ts)$/.test(path) ||
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

test("whatever is exported is named somewhere else", async () => {
  const files = await sourceFiles();
  const counts = new Map<string, number>();
  for (const { text } of files)
    for (const [name] of text.matchAll(/[\w$]+/g)) counts.set(name, (counts.get(name) ?? 0) + 1);
  const exported = /^export (?:async )?(?:function\*?|const|class|interface|type) ([\w$]+)/gm;
  const unused = files
    .filter(({ path }) => !/^clients\/|^drivers\/native\//.test(path))
    .flatMap(({ path, text }) =>
      [...text.matchAll(exported)].flatMap(([, name = ""]) =>
        counts.get(name) === 1 ? [`${path}: ${name}`] : [],
      ),
    );
  expect(unused).toEqual([]);
});

/** The folder that counts as one house: its files may import each other freely. */
function home(path: string): string {
  const [first, second, third, fourth] = path.split("/");
  if (first === "drivers" && second === "native") return `drivers/native/${third}`;
  // These hold several houses, and files that put them together.
  if (first === "src" && /^(web|gateway|central)$/.test(second ?? ""))
    return fourth === undefined ? path : `${first}/${second}/${third}`;
  if (second !== undefined && third !== undefined) return `${first}/${second}`;
  return path;
}
