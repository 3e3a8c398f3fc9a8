import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { mountsAllowed } from "../store/sqlite/mount.ts";

const root = join(import.meta.dir, "../..");
const { version, packageManager } = await Bun.file(join(root, "package.json")).json();
const pinned = packageManager.replace("bun@", "");

/** A checkout of its own, without .bun, in a directory with a name that needs quotes. */
let directory: string;
let checkout: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel setup ä-"));
  checkout = join(directory, "check out");
  mkdirSync(join(directory, "bin"));
  mkdirSync(join(directory, "home"));
  mkdirSync(join(checkout, "node_modules"), { recursive: true });
  for (const name of [
    "scripts/lintel",
    "scripts/launch.sh",
    "scripts/setup.sh",
    "scripts/bun.sha512",
    "package.json",
    "bun.lock",
  ]) {
    cpSync(join(root, name), join(checkout, name));
  }
  for (const name of ["src", "drivers", "docs", "systemd", "tsconfig.json"])
    symlinkSync(join(root, name), join(checkout, name));
  for (const name of readdirSync(join(root, "node_modules"))) {
    if (!name.startsWith(".lintel-"))
      symlinkSync(join(root, "node_modules", name), join(checkout, "node_modules", name));
  }
  complete();
});

/** The dependencies are those of the lock file. */
function complete(): void {
  const lock = Bun.spawnSync(["sh", "-c", 'cksum <"$1"', "sh", join(checkout, "bun.lock")]).stdout;
  writeFileSync(join(checkout, "node_modules/.lintel-production"), lock);
}

afterEach(() => {
  rmSync(directory, { recursive: true, force: true });
});

const kept = () => join(checkout, ".bun", pinned, "bun");

function program(path: string, text: string): void {
  mkdirSync(join(path, ".."), { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
}

/** Puts the running Bun on the PATH of `lintel`. */
function bunOnPath(): void {
  symlinkSync(process.execPath, join(directory, "bin/bun"));
}

/** Puts a registry within reach that has this Bun, by a `curl` that notes each download and takes a moment. */
function registry(): void {
  const pack = join(directory, "pack");
  program(join(pack, "package/bin/bun"), `#!/bin/sh\nexec "${process.execPath}" "$@"\n`);
  Bun.spawnSync(["tar", "-czf", "../bun.tgz", "package"], { cwd: pack });
  const sum = new Bun.CryptoHasher("sha512").update(readFileSync(join(directory, "bun.tgz"))).digest("hex");
  const archives = readFileSync(join(root, "scripts/bun.sha512"), "utf8").trim().split("\n");
  writeFileSync(
    join(checkout, "scripts/bun.sha512"),
    archives.map((line) => `${sum}  ${line.split("  ")[1]}\n`).join(""),
  );
  program(
    join(directory, "bin/curl"),
    `#!/bin/sh
echo fetched >>"${directory}/downloads"
sleep 0.3
while [ "$1" != --output ]; do shift; done
exec cp "${directory}/bun.tgz" "$2"
`,
  );
}

const downloads = () =>
  existsSync(join(directory, "downloads"))
    ? readFileSync(join(directory, "downloads"), "utf8").trim().split("\n").length
    : 0;

function start(
  { env, ...options }: { detached?: boolean; env?: Readonly<Record<string, string>> },
  ...words: string[]
): Bun.Subprocess<"ignore", "pipe", "pipe"> {
  return Bun.spawn([join(checkout, "scripts/lintel"), ...words], {
    ...options,
    cwd: directory,
    env: { PATH: `${directory}/bin:/usr/bin:/bin`, HOME: join(directory, "home"), ...env },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function ended(process: Bun.Subprocess<"ignore", "pipe", "pipe">) {
  const [out, said, code] = await Promise.all([
    new Response(process.stdout).text(),
    new Response(process.stderr).text(),
    process.exited,
  ]);
  return { out, said, code };
}

/** For tests that are about the Bun, and need no bundle. */
const fromSource = { env: { LINTEL_DEBUG: "1" } };
const nobody = 65534;
const itself = { out: `${version}\n`, code: 0 };

describe("the Bun that runs lintel", () => {
  test("is that on PATH where it is the pinned one, and nothing is fetched, or written into the home directory", async () => {
    bunOnPath();
    registry();
    expect(await ended(start(fromSource, "--version"))).toMatchObject({ ...itself, said: "" });
    expect(downloads()).toBe(0);
    expect(readdirSync(join(directory, "home"))).toEqual([]);
  });

  test("is fetched where that on PATH is of another version", async () => {
    program(join(directory, "bin/bun"), "#!/bin/sh\necho 0.8.1\n");
    registry();
    expect(await ended(start(fromSource, "--version"))).toMatchObject(itself);
    expect(downloads()).toBe(1);
    expect(await ended(start(fromSource, "--version"))).toMatchObject({ ...itself, said: "" });
    expect(downloads()).toBe(1);
  });

  test.each([
    ["empty, as a power cut leaves it", ""],
    ["cut short", "\u007fELF\u0002\u0001\u0001"],
    ["something else", "#!/bin/sh\necho hello\n"],
  ])("is fetched anew where the one in the checkout is %s", async (_, text) => {
    program(kept(), text);
    registry();
    expect(await ended(start(fromSource, "--version"))).toMatchObject(itself);
    expect(downloads()).toBe(1);
  });

  test("is fetched once by first runs that begin together", async () => {
    registry();
    const runs = await Promise.all([1, 2, 3].map(() => ended(start(fromSource, "--version"))));
    for (const run of runs) expect(run).toMatchObject(itself);
    expect(downloads()).toBe(1);
    expect(readdirSync(join(checkout, ".bun")).filter((name) => name.startsWith("fetch"))).toEqual([]);
  });

  test("is not run when it does not match its checksum", async () => {
    registry();
    cpSync(join(root, "scripts/bun.sha512"), join(checkout, "scripts/bun.sha512"));
    const { code, said } = await ended(start(fromSource, "--version"));
    expect(code).toBe(1);
    expect(said).toContain("does not match its checksum");
    expect(existsSync(kept())).toBe(false);
  });
});

describe.skipIf(!mountsAllowed)(
  "the C library that Bun is fetched for is that of the machine's own programs",
  () => {
    /** The package that setup.sh would fetch after `mounts`, in a mount namespace of its own. */
    function packageAfter(mounts: string): string {
      const script = `set -e
cd "$1"
${mounts}
. "$2/scripts/setup.sh"
bun_package`;
      const run = Bun.spawnSync(["unshare", "--mount", "bash", "-c", script, "bash", directory, root]);
      return `${run.stdout}${run.stderr}`;
    }

    test("glibc on Debian, also where the package musl is installed", () => {
      mkdirSync(join(directory, "lib"));
      for (const machine of ["x86_64", "aarch64"])
        writeFileSync(join(directory, `lib/ld-musl-${machine}.so.1`), "");
      const beside =
        "mount -t overlay -o lowerdir=lib:/usr/lib overlay /usr/lib\nls /lib/ld-musl-* >/dev/null";
      expect(packageAfter(beside)).toMatch(/^bun-linux-(x64(-baseline)?|aarch64)$/);
    });

    test("musl on Alpine", () => {
      // Its shell is busybox; what counts is which loader that names.
      const shell = readFileSync("/bin/sh");
      const named = shell
        .subarray(0, 4096)
        .toString("latin1")
        .search(/\/lib[\w/-]*\/ld-linux-[\w.-]+/);
      expect(named).toBeGreaterThan(0);
      shell.fill(0, named, shell.indexOf(0, named));
      shell.write("/lib/ld-musl-a.so.1", named);
      writeFileSync(join(directory, "sh"), shell);
      expect(packageAfter("mount --bind sh /bin/sh")).toMatch(/^bun-linux-(x64|aarch64)-musl(-baseline)?$/);
    });
  },
);

describe("a first run that is stopped", () => {
  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)(
    "by %s while it fetches ends with its code, leaves nothing half done, and can be run again",
    async (signal, code) => {
      registry();
      const answers = readFileSync(join(directory, "bin/curl"), "utf8");
      const asked = join(directory, "asked");
      Bun.spawnSync(["mkfifo", asked]);
      program(join(directory, "bin/curl"), `#!/bin/sh\necho asked >"${asked}"\nexec tail -f /dev/null\n`);
      // As a terminal does it: the signal goes to all that was started together.
      const run = start({ ...fromSource, detached: true }, "--version");
      await Bun.file(asked).text();
      process.kill(-run.pid, signal);
      expect((await ended(run)).code).toBe(code);
      expect(readdirSync(join(checkout, ".bun"))).toEqual(["lock"]);
      program(join(directory, "bin/curl"), answers);
      expect(await ended(start(fromSource, "--version"))).toMatchObject(itself);
    },
  );
});

test("a user who may not write to an incomplete checkout hears who has to set it up", async () => {
  if (process.getuid?.() !== 0) return;
  chmodSync(directory, 0o755);
  const run = Bun.spawn(
    ["setpriv", `--reuid=${nobody}`, "--clear-groups", join(checkout, "scripts/lintel"), "--version"],
    {
      env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    },
  );
  const { code, said } = await ended(run);
  expect(code).toBe(1);
  expect(said.trim().split("\n")).toHaveLength(1);
  expect(said).toContain(`run 'sudo ${checkout}/scripts/lintel --version' once`);
});

test.skipIf(!mountsAllowed)(
  "an incomplete checkout on a read-only card is not blamed on the user",
  async () => {
    const readOnly =
      'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && exec "$1/scripts/lintel" --version';
    const run = Bun.spawn(["unshare", "--mount", "sh", "-c", readOnly, "sh", checkout], {
      env: { PATH: "/usr/bin:/bin:/usr/sbin:/sbin", HOME: "/nonexistent" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
    const { code, said } = await ended(run);
    expect([code, said.trim().split("\n")]).toEqual([
      1,
      [expect.stringContaining("is not complete, and its file system is read-only: the SD card is failing")],
    ]);
  },
);

describe("the version", () => {
  function git(...words: string[]): string {
    const identity = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    const run = Bun.spawnSync(["git", "-C", checkout, ...identity, ...words]);
    expect(run.stderr.toString()).not.toContain("fatal");
    return run.stdout.toString().trim();
  }
  const shown = async (...words: string[]) => (await ended(start({}, ...words, "--version"))).out.trim();
  const head = () => git("rev-parse", "--short=10", "HEAD");

  test("names the commit, whether it was changed since, and no more than the release where there is no git", async () => {
    bunOnPath();
    writeFileSync(join(checkout, ".gitignore"), ".bun\nnode_modules\n");
    expect(await shown()).toBe(version);
    git("init");
    git("add", ".");
    git("commit", "--message", "first");
    const first = head();
    expect(await shown()).toBe(`${version}+${first}`);
    writeFileSync(join(checkout, "scripts/setup.sh"), "# changed\n", { flag: "a" });
    expect(await shown()).toBe(`${version}+${first}.changed`);
    git("commit", "--all", "--message", "second");
    git("pack-refs", "--all");
    expect(head()).not.toBe(first);
    expect(await shown()).toBe(`${version}+${head()}`);
    git("checkout", "--detach");
    expect(await shown()).toBe(`${version}+${head()}`);
  });

  test("is the same for a user whom git refuses the checkout, and in what a source tells that is not bundled", async () => {
    if (process.getuid?.() !== 0) return;
    bunOnPath();
    chmodSync(directory, 0o755);
    writeFileSync(join(checkout, ".gitignore"), ".bun\nnode_modules\n");
    git("init");
    git("add", ".");
    git("commit", "--message", "first");
    expect(await shown()).toBe(`${version}+${head()}`);
    const told = async (user: readonly string[]) => {
      const run = Bun.spawn([...user, join(checkout, "scripts/lintel"), "central", "--version"], {
        env: { PATH: `${directory}/bin:/usr/bin:/bin`, HOME: "/nonexistent" },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
      return (await ended(run)).out.trim();
    };
    expect(await told(["setpriv", "--reuid=65534", "--clear-groups"])).toBe(`${version}+${head()}`);
  });
});

describe("a gateway", () => {
  const bundles = () => readdirSync(join(checkout, ".bun/program"));

  /** Starts `lintel run`, waits until it serves, and stops it again: the file that Bun ran. */
  async function ranFrom(env: Readonly<Record<string, string>> = {}): Promise<string> {
    const config = join(directory, "lintel.toml");
    writeFileSync(config, `data = "${join(directory, "data")}"\n[api]\nlisten = "127.0.0.1:0"\n`);
    const gateway = start({ env }, "run", "--config", config, "--json");
    const { value } = await gateway.stdout.getReader().read();
    expect(JSON.parse(new TextDecoder().decode(value))).toHaveProperty("url");
    const words = readFileSync(`/proc/${gateway.pid}/cmdline`, "utf8").split("\0");
    const file = words.slice(1).find((word) => !word.startsWith("--")) ?? "";
    gateway.kill("SIGTERM");
    expect(await gateway.exited).toBe(0);
    return file.slice(checkout.length + 1);
  }

  test("runs from a bundle that is made once for what is there, and from the source where that is looked into", async () => {
    bunOnPath();
    expect(await ranFrom()).toBe(`.bun/program/${bundles()[0]}/main.js`);
    expect(await ranFrom()).toBe(`.bun/program/${bundles()[0]}/main.js`);
    expect(bundles()).toHaveLength(1);
    expect(await ranFrom({ LINTEL_DEBUG: "1" })).toBe("src/main.ts");
  });

  test("never runs from an older bundle, of which one stays for a gateway that is running", async () => {
    bunOnPath();
    const made: string[] = [];
    for (let change = 0; change < 3; change++) {
      writeFileSync(join(checkout, "scripts/setup.sh"), `# change ${change}\n`, { flag: "a" });
      expect(await ended(start({}, "--version"))).toMatchObject({ ...itself, said: "" });
      made.push(...bundles().filter((bundle) => !made.includes(bundle)));
      expect(made).toHaveLength(change + 1);
    }
    expect(new Set(bundles())).toEqual(new Set(made.slice(1)));
    expect(readdirSync(join(checkout, ".bun")).filter((name) => /^bundle\.\d/.test(name))).toEqual([]);
  });

  /** Starts `lintel run` as a user who may not write to the checkout, as the service does, until it serves. */
  async function ranAsService() {
    chmodSync(directory, 0o755);
    const config = join(directory, "service.toml");
    const data = join(directory, "service");
    writeFileSync(config, `data = "${data}"\n[api]\nlisten = "127.0.0.1:0"\n`);
    mkdirSync(data, { recursive: true });
    chownSync(data, nobody, nobody);
    const gateway = Bun.spawn(
      [
        "setpriv",
        `--reuid=${nobody}`,
        "--clear-groups",
        join(checkout, "scripts/lintel"),
        "run",
        "--config",
        config,
        "--json",
      ],
      {
        env: { PATH: "/usr/bin:/bin", HOME: "/nonexistent" },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      },
    );
    const { value } = await gateway.stdout.getReader().read();
    const words = readFileSync(`/proc/${gateway.pid}/cmdline`, "utf8").split("\0");
    const file = words.find((word) => /main\.[jt]s$/.test(word)) ?? "";
    gateway.kill("SIGTERM");
    const lines = (await new Response(gateway.stderr).text()).split("\n");
    return {
      serves: value !== undefined,
      file: file.slice(checkout.length + 1),
      said: lines.filter((line) => line.startsWith("lintel: ")),
      code: await gateway.exited,
    };
  }

  test.skipIf(process.getuid?.() !== 0).each([
    ["the source", "scripts/setup.sh", "# changed\n"],
    ["the lock file", "bun.lock", "\n"],
  ])(
    "whose checkout got a change of %s runs what was complete before, until somebody completes it",
    async (_, file, change) => {
      registry();
      expect(await ended(start({}, "--version"))).toMatchObject(itself);
      const [before] = bundles();
      expect(await ranAsService()).toMatchObject({
        serves: true,
        file: `.bun/program/${before}/main.js`,
        said: [],
        code: 0,
      });
      writeFileSync(join(checkout, file), change, { flag: "a" });
      const between = await ranAsService();
      expect(between).toMatchObject({ serves: true, file: `.bun/program/${before}/main.js`, code: 0 });
      expect(between.said).toHaveLength(1);
      expect(between.said[0]).toContain(`until you run 'sudo ${checkout}/scripts/lintel --version'`);
      complete();
      expect(await ended(start({}, "--version"))).toMatchObject(itself);
      const after = await ranAsService();
      expect(after).toMatchObject({ serves: true, said: [], code: 0 });
      expect(after.file).not.toBe(between.file);
    },
  );

  test("runs from its source where no bundle can be made", async () => {
    bunOnPath();
    mkdirSync(join(checkout, ".bun"));
    writeFileSync(join(checkout, ".bun/program"), "");
    expect(await ranFrom()).toBe("src/main.ts");
  });
});
