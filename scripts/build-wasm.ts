/**
 * Builds src/store/series/blocks-wasm.ts of blocks.as: the same bytes each time, which a test holds it to.
 *
 *   bun scripts/build-wasm.ts [FILE]
 */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const series = join(import.meta.dir, "../src/store/series");
const output = process.argv[2] ?? join(series, "blocks-wasm.ts");
const directory = mkdtempSync(join(tmpdir(), "lintel-wasm-"));
try {
  // The compiler wants its own ending.
  copyFileSync(join(series, "blocks.as"), join(directory, "blocks.ts"));
  const made = join(directory, "blocks.wasm");
  const words = [
    "blocks.ts",
    "--baseDir",
    directory,
    "--outFile",
    "blocks.wasm",
    "-O2",
    "--shrinkLevel",
    "1",
  ];
  const compiler = join(import.meta.dir, "../node_modules/assemblyscript/bin/asc.js");
  const { exitCode, stderr } = Bun.spawnSync([
    ...[process.execPath, compiler, ...words, "--runtime", "stub", "--noAssert", "--importMemory"],
  ]);
  if (exitCode !== 0) throw new Error(stderr.toString());
  const bytes = readFileSync(made).toString("base64");
  const lines = bytes.match(/.{1,100}/g) ?? [];
  writeFileSync(
    output,
    `/** Made of blocks.as by \`bun scripts/build-wasm.ts\`. */\nexport const blocksWasm =\n${lines.map((line) => `  "${line}"`).join(" +\n")};\n`,
  );
} finally {
  rmSync(directory, { recursive: true, force: true });
}
