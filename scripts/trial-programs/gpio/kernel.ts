import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";

/** Debian packages that have to be installed, by the file that shows whether they are. */
const packages: Readonly<Record<string, string>> = {
  "/usr/bin/qemu-system-x86_64": "qemu-system-x86",
  "/usr/bin/gcc": "gcc",
  "/usr/bin/make": "make",
  "/usr/bin/bc": "bc",
  "/usr/bin/flex": "flex",
  "/usr/bin/bison": "bison",
  "/usr/bin/xz": "xz-utils",
  "/usr/include/gelf.h": "libelf-dev",
};

/** The packages that are not. */
export function missingTools(): string[] {
  return Object.entries(packages).flatMap(([path, name]) => (existsSync(path) ? [] : [name]));
}

/** The kernel in the cache, made first where there is none: of this Debian's newest kernel source and `kernel.config`. */
export async function smallKernel(cache: string, say: (line: string) => void): Promise<string> {
  const recipe = join(import.meta.dir, "kernel.config");
  const name = `vmlinuz-${Bun.hash.crc32(await Bun.file(recipe).bytes()).toString(16)}`;
  const kernel = join(cache, name);
  if (existsSync(kernel)) return kernel;
  const work = join(cache, `${name}.${process.pid}`);
  mkdirSync(work, { recursive: true });
  try {
    say("Debian's kernel source");
    const depends = await Bun.$`apt-cache depends linux-source`.text();
    const source = /Depends: (linux-source-\S+)/.exec(depends)?.[1] ?? "linux-source";
    await Bun.$`apt-get download ${source} && dpkg-deb -x ${source}_*.deb .`.cwd(work).quiet();
    const [archive] = await Array.fromAsync(new Glob("usr/*/linux-source-*.tar.xz").scan({ cwd: work }));
    if (archive === undefined) throw new Error(`${source} has no archive of the source`);
    mkdirSync(join(work, "linux"));
    await Bun.$`tar -xf ${archive} -C linux --strip-components=1`.cwd(work);
    say("the kernel");
    const linux = join(work, "linux");
    await Bun.$`make -s tinyconfig && scripts/kconfig/merge_config.sh -m -O . .config ${recipe} && make -s olddefconfig && make -s -j${navigator.hardwareConcurrency} bzImage`
      .cwd(linux)
      .quiet();
    copyFileSync(join(linux, "arch/x86/boot/bzImage"), `${kernel}.whole`);
    renameSync(`${kernel}.whole`, kernel);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  return kernel;
}
