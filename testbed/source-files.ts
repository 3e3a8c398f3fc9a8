import { dirname, join, normalize } from "node:path";
import { Glob } from "bun";

/** The checkout that the source rules are held against. */
export const root = normalize(join(import.meta.dir, ".."));

export interface SourceFile {
  /** From the root, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** Files of this repository that it imports, by type or by value, statically or as a worker or asset URL. */
  readonly imports: readonly string[];
  /** Packages and built-in modules that it imports. */
  readonly packages: readonly string[];
}

/** Every tracked or new TypeScript file, with or without markup, not those that git ignores. */
export async function sourceFiles(): Promise<SourceFile[]> {
  const paths = (await repositoryFiles()).filter((path) => /\.tsx?$/.test(path));
  const known = new Set(paths);
  return Promise.all(
    paths.map(async (path) => {
      const text = await Bun.file(join(root, path)).text();
      const specifiers = importsOf(text);
      return {
        path,
        text,
        imports: specifiers
          .filter(isLocal)
          .map((to) => withEnding(normalize(join(dirname(path), to)), known)),
        packages: specifiers.filter((to) => !isLocal(to)),
      };
    }),
  );
}

/** Every file that git tracks or would, from the root. */
export async function repositoryFiles(): Promise<string[]> {
  const list = ["git", "ls-files", "--cached", "--others", "--exclude-standard"];
  const listed = Bun.which("git") === null ? undefined : Bun.spawnSync(list, { cwd: root });
  if (listed?.exitCode === 0) {
    const paths = listed.stdout.toString().split("\n").filter(Boolean);
    const present = await Promise.all(paths.map((path) => Bun.file(join(root, path)).exists()));
    return paths.filter((_, index) => present[index]);
  }
  // A copy without git, as a release archive is, or a machine without it: everything but what is installed.
  const found: string[] = [];
  for await (const path of new Glob("**/*").scan({ cwd: root, dot: true }))
    if (!/(^|\/)(node_modules|\.bun|\.git)\//.test(path)) found.push(path);
  return found;
}

/** A worker is named without its ending where a bundle has it under another. */
function withEnding(path: string, known: ReadonlySet<string>): string {
  return !known.has(path) && known.has(`${path}.ts`) ? `${path}.ts` : path;
}

function isLocal(specifier: string): boolean {
  return specifier.startsWith(".");
}

function importsOf(text: string): string[] {
  const patterns = [
    /^(?:import|export)\b[^'"`;]*?\bfrom\s+"([^"]+)"/gms,
    /^import\s+"([^"]+)"/gm,
    /\bimport\(\s*"([^"]+)"\s*\)/g,
    /\bnew URL\(\s*"(\.[^"]+)",\s*import\.meta\.url\s*\)/g,
    /\bimport\.meta\.resolve\(\s*"([^"]+)"\s*\)/g,
  ];
  return patterns.flatMap((pattern) => [...text.matchAll(pattern)].map((match) => match[1] as string));
}
