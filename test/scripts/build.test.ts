import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { isBuiltin } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "smol-toml";
import { sticks } from "../../drivers/wire/sticks.ts";
import { globsOf } from "../../scripts/packaging/udev-rules.ts";
import { commands } from "../../src/cli/command-table.ts";

const root = join(import.meta.dir, "../..");
const directory = mkdtempSync(join(tmpdir(), "lintel build-"));
const tree = join(directory, "tree");
const release = join(directory, "one/lintel_9.8.7~1_amd64");
/** As `dpkg-deb --contents` has it: mode, owner, size, time and path. */
let contents = "";
/** Its progress, as the last run wrote it. */
let told = "";

function run(words: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...words], {
    cwd: options.cwd ?? root,
    env: { PATH: process.env["PATH"] ?? "", HOME: directory, ...options.env },
  });
  if (exitCode !== 0) throw new Error(`${words.join(" ")}: ${stdout}${stderr}`);
  told = stderr.toString();
  return stdout.toString();
}

/** Builds the package of a checkout, with the Bun that is here already. */
function build(checkout: string, out: string): string {
  const env = { DPKG_DEB_COMPRESSOR_TYPE: "none", SOURCE_DATE_EPOCH: "1790000000" };
  const options = ["--version", "9.8.7~1", "--bun", process.execPath, "--out", join(directory, out)];
  return run([join(checkout, "scripts/build"), "--arch", "amd64", ...options], {
    cwd: directory,
    env,
  }).trim();
}

/** The package of this processor, so that its program can be started. */
describe.skipIf(process.arch !== "x64" || Bun.which("dpkg-deb") === null)("a package", () => {
  let progress = "";
  beforeAll(() => {
    const deb = build(root, "one");
    progress = told;
    contents = run(["dpkg-deb", "--contents", deb]);
    run(["dpkg-deb", "--raw-extract", deb, tree]);
  });

  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const text = (path: string) => readFileSync(join(tree, path), "utf8");
  const unpacked = (path: string) => new TextDecoder().decode(Bun.gunzipSync(readFileSync(join(tree, path))));

  test("is made with a line for each step that takes long", () => {
    expect(progress).toMatch(
      /bundling the program of Lintel 9\.8\.7~1\n(?:.*\n)*amd64: gathering files\n(?:.*\n)*amd64: packing \S+, which takes a minute or more\n/,
    );
  });

  test("is the same of a checkout in another folder, byte for byte", () => {
    // On the same disk, so that the files need not be copied.
    const other = mkdtempSync(join(root, ".bun/another-"));
    try {
      for (const name of readdirSync(root).filter((one) => !one.startsWith(".") && one !== "dist"))
        run(["cp", "--archive", "--link", join(root, name), other]);
      symlinkSync(join(root, ".git"), join(other, ".git"));
      symlinkSync(join(root, ".bun"), join(other, ".bun"));
      build(other, "two");
    } finally {
      rmSync(other, { recursive: true });
    }
    const [one, two] = ["one", "two"].map((out) => join(directory, out, "lintel_9.8.7~1_amd64.deb"));
    expect(run(["cmp", one ?? "", two ?? ""])).toBe("");
  });

  test("has root's files, which nobody else may write, all of the time that it was told", () => {
    const lines = contents.trim().split("\n");
    expect(lines.length).toBeGreaterThan(500);
    expect(lines.filter((line) => !/^[-dl]rwx?r?-?[-x](r-[-x]|---)?\S* root\/root /.test(line))).toEqual([]);
    expect(lines.filter((line) => /^.{5}w|^.{8}w/.test(line) && !line.startsWith("l"))).toEqual([]);
    expect(new Set(lines.map((line) => line.split(/\s+/)[3]))).toEqual(new Set(["2026-09-21"]));
  });

  test("writes below none but /etc/lintel and /usr", () => {
    const places = contents
      .trim()
      .split("\n")
      .map((line) => line.split(/\s+/)[5] ?? "");
    expect(places.filter((path) => !/^\.\/($|usr\/|etc\/($|lintel\/))/.test(path))).toEqual([]);
    expect(text("DEBIAN/conffiles")).toBe("/etc/lintel/lintel.toml\n");
  });

  test("names no folder of the checkout that it was made of", () => {
    const search = 'grep -rlF --exclude=bun -- "$1" "$2" || :';
    expect(run(["sh", "-c", search, "sh", root, tree])).toBe("");
  });

  test("runs from wherever it lies, with nothing in its environment, and says which it is", () => {
    const told = run([join(release, "lintel"), "--version"], { cwd: "/", env: {} }).trim();
    expect(told).toStartWith("9.8.7~1+");
    const { version, commit, architecture } = JSON.parse(text("usr/lib/lintel/release.json"));
    expect([`${version}+${commit}`, architecture]).toEqual([told, "amd64"]);
  });

  test("takes no code, settings or variables from where somebody stands", () => {
    const hostile = join(directory, "hostile");
    mkdirSync(hostile);
    Bun.spawnSync([
      "sh",
      "-c",
      `cd "$1" && echo 'preload = ["./evil.ts"]' >bunfig.toml && echo 'console.log("evil")' >evil.ts`,
      "sh",
      hostile,
    ]);
    expect(run([join(release, "lintel"), "--version"], { cwd: hostile, env: {} })).not.toContain("evil");
  });

  test("has all that its program loads by name: libraries that are in no bundle, and threads", () => {
    const modules = join(release, "program/node_modules");
    const converters = join(modules, "zigbee-herdsman-converters/dist");
    const found = new Set([
      ...["index", "lib/*", "devices/*", "converters/*"].flatMap((files) => [
        ...new Bun.Glob(`${files}.js`).scanSync({ cwd: converters, absolute: true }),
      ]),
      join(modules, "@stoprocent/noble/lib/resolve-bindings.js"),
      join(modules, "onoff/onoff.js"),
    ]);
    const missing: string[] = [];
    for (const path of found)
      for (const [, name = ""] of readFileSync(path, "utf8").matchAll(/\brequire\(["']([^"']+)["']\)/g)) {
        // The bundle has that one, and hands it out.
        if (name === "zigbee-herdsman" || isBuiltin(name)) continue;
        try {
          const to = Bun.resolveSync(name, dirname(path));
          if (!to.startsWith(modules)) missing.push(`${name} of ${path}`);
          else if (to.endsWith(".js")) found.add(to);
        } catch {
          missing.push(name);
        }
      }
    expect(found.size).toBeGreaterThan(500);
    // Of other systems than Linux and of D-Bus, which are not used, and colours that are done without.
    expect(missing.sort()).toEqual(["./dbus/bindings", "./mac/bindings", "./win/bindings", "supports-color"]);
    for (const thread of ["writer.js", "vacuum.js", "sql-worker.js"])
      expect(existsSync(join(release, "program", thread))).toBe(true);
  });

  test("has scripts for its installer that are sound, and name no unit that is not there", () => {
    const units = new Set(readdirSync(join(tree, "usr/lib/systemd/system")));
    for (const name of ["postinst", "prerm", "postrm"]) {
      run(["sh", "-n", join(tree, "DEBIAN", name)]);
      const named = text(`DEBIAN/${name}`).match(/\blintel[a-z-]*\.(service|timer|path)\b/g) ?? [];
      expect(named.filter((unit) => !units.has(unit))).toEqual([]);
    }
    for (const name of ["usr/bin/lintel", "usr/lib/lintel/lintel", "usr/libexec/lintel/run-update"])
      run(["sh", "-n", join(tree, name)]);
  });

  test("has units that start what is installed", () => {
    const units = join(tree, "usr/lib/systemd/system");
    for (const name of readdirSync(units)) {
      const unit = readFileSync(join(units, name), "utf8");
      for (const [, program] of unit.matchAll(/^ExecStart=(\S+) (?!-c)/gm))
        expect(["/usr/bin/lintel", "/usr/libexec/lintel/run-update", "/bin/systemctl"]).toContain(
          program ?? "",
        );
      const [, document] = /^Documentation=file:\/(\S+)$/m.exec(unit) ?? [];
      expect([name, existsSync(join(tree, document ?? "none"))]).toEqual([name, true]);
    }
  });

  test("brings a configuration that says no more than that of the checkout, which set-up takes for none", () => {
    const example = readFileSync(join(root, "systemd/lintel.toml"), "utf8");
    expect(parse(text("etc/lintel/lintel.toml"))).toEqual(parse(example));
  });

  test("has a manual page of every command, with its options, and of every section of the configuration", () => {
    for (const name of Object.keys(commands))
      expect(unpacked(`usr/share/man/man1/lintel-${name}.1.gz`)).toContain(".SH SYNOPSIS");
    expect(unpacked("usr/share/man/man1/lintel-token.1.gz")).toContain("\\-\\-expires <span>");
    const configuration = unpacked("usr/share/man/man5/lintel.toml.5.gz");
    for (const name of ["home", "api", "zigbee", "ble", "mqtt", "upload"])
      expect(configuration).toContain(`.SS [${name}]`);
  });

  test("completes commands, options and the values that are known", () => {
    const script = join(tree, "usr/share/bash-completion/completions/lintel");
    const complete = (...words: string[]) =>
      run([
        ...["bash", "-c"],
        'source "$0" && COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) && _lintel && echo "$COMPREPLY"',
        ...[script, "lintel", ...words],
      ]).trim();
    expect(complete("to")).toBe("token");
    expect(complete("token", "cre")).toBe("create");
    expect(complete("token", "create", "--exp")).toBe("--expires");
    expect(complete("fetch", "--format", "p")).toBe("parquet");
  });
});

test("rules of udev match the names that the table of sticks does", () => {
  const names = [
    "ITEAD_SONOFF_Zigbee_3.0_USB_Dongle_Plus_V2_20240122184111",
    "Silicon_Labs_Sonoff_Zigbee_3.0_USB_Dongle_Plus_0001",
    "SMLIGHT_SMLIGHT_SLZB-07p7_be9f",
    "dresden_elektronik_ConBee_III_DE03188111",
    "Nabu_Casa_ZBT-2_10B41DE58D6C",
    "1a86_USB_Serial",
    "Electrolama_zig-a-zig-ah",
  ];
  for (const { named } of sticks)
    for (const name of names) {
      const byGlob = globsOf(named).some((glob) => new Bun.Glob(glob).match(name));
      expect([named.source, name, byGlob]).toEqual([named.source, name, named.test(name)]);
    }
});
