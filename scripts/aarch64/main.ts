import { mkdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SimulatorProcess } from "../../testbed/simulator-process.ts";
import { makeDisk } from "../debian-machine/disk.ts";
import { boot } from "../debian-machine/machine.ts";
import { compilers, requireTools, run } from "../debian-machine/tools.ts";

/**
 * A trial of this checkout on an emulated aarch64 machine; scripts/test-aarch64 says what for. The machine runs
 * guest.sh, which announces each step, and asks for the sensor that is simulated here: its lines are `step: …`,
 * `seen: …`, `sensor: join`, `sensor: alarm` and, when all went well, `passed`.
 */
const cache = process.env["LINTEL_AARCH64_CACHE"] ?? join(tmpdir(), "lintel-aarch64");
const started_ms = performance.now();

function say(text: string): void {
  console.log(`${((performance.now() - started_ms) / 1000).toFixed(0).padStart(5)} s  ${text}`);
}

function fail(text: string): never {
  console.error(`test-aarch64: ${text}`);
  process.exit(1);
}

try {
  requireTools("arm64", compilers);
  mkdirSync(cache, { recursive: true, mode: 0o700 });
  const disk = await makeDisk({ cache, architecture: "arm64", say });
  say("the package for arm64");
  const built = await run(
    ...["env", "DPKG_DEB_COMPRESSOR_TYPE=gzip", join(import.meta.dir, "../build"), "--arch", "arm64"],
    ...["--out", join(cache, "packages")],
  );
  const deb = built.trim().split("\n").at(-1) ?? "";
  const stick = await SimulatorProcess.start("zigbee");
  const { ieee } = await stick.tell({ do: "add", model: "3041" });
  const machine = boot({
    architecture: "arm64",
    disk,
    files: [deb],
    guest: "scripts/aarch64/guest.sh",
    stick: new URL(stick.path),
    log: join(cache, "console.log"),
  });
  let passed = false;
  for await (const line of machine) {
    const [word, rest = ""] = line.split(/: (.*)/s);
    if (word === "step" || word === "seen") say(`${word === "seen" ? "  " : ""}${rest}`);
    else if (word === "sensor") await stick.tell({ do: rest, ieee });
    else if (word === "passed") passed = true;
  }
  await stick.end();
  if (!passed) fail(`the step above failed; all that the machine said is in ${join(cache, "console.log")}`);
  say("passed");
} catch (thrown) {
  fail(thrown instanceof Error ? thrown.message : String(thrown));
}
