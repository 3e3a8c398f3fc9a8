import { dlopen, FFIType, ptr } from "bun:ffi";
import { cpSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Disks of simulated machines: see disk.c, which must be preloaded into this process. */
export class Disks {
  readonly root: string;
  readonly library;
  #count = 0;

  /** @param library path of what was preloaded */
  constructor(root: string, library: string) {
    this.root = root;
    const { i32, f64, cstring } = { i32: FFIType.i32, f64: FFIType.f64, cstring: FFIType.ptr };
    const none = FFIType.void;
    this.library = dlopen(library, {
      life_root: { args: [cstring], returns: none },
      life_begin: { args: [i32], returns: none },
      life_end: { args: [i32], returns: none },
      life_off_after: { args: [i32, i32], returns: none },
      life_is_off: { args: [i32], returns: i32 },
      life_free_bytes: { args: [i32, f64], returns: none },
      life_fail_syncs: { args: [i32, i32], returns: none },
      life_found: { args: [cstring], returns: none },
      life_image: { args: [i32, cstring, cstring, f64], returns: none },
      life_hand_over: { args: [i32, i32], returns: none },
    }).symbols;
    this.library.life_root(ptr(Buffer.from(`${root}\0`)));
  }

  /** An empty disk, or one with the files of a directory, all of them synchronised. */
  make(from?: string): Disk {
    // Numbers of disks that are gone are used again.
    this.#count = (this.#count % disks_max) + 1;
    const disk = new Disk(this, this.#count);
    if (from !== undefined) {
      copyFiles(from, disk.directory);
      this.library.life_found(ptr(Buffer.from(`${disk.directory}\0`)));
    }
    return disk;
  }
}

/** The disk of a machine; its data directory is all of it. */
export class Disk {
  readonly directory: string;
  readonly #disks: Disks;
  readonly #number: number;
  /** How long the disk takes for each request of the writer. */
  slow_ms = 0;

  constructor(disks: Disks, number: number) {
    this.#disks = disks;
    this.#number = number;
    this.directory = join(disks.root, String(number));
    rmSync(this.directory, { recursive: true, force: true });
    mkdirSync(this.directory, { recursive: true });
    disks.library.life_begin(number);
  }

  /** Has power fail, or the processes killed, at an operation after `operations` more of them: nothing is written from there on. */
  endAfter(operations: number): void {
    this.#disks.library.life_off_after(this.#number, operations);
  }

  get ended(): boolean {
    return this.#disks.library.life_is_off(this.#number) !== 0;
  }

  /** Bytes that files may grow by from now on; absent: any. */
  limit(free_bytes = -1): void {
    this.#disks.library.life_free_bytes(this.#number, free_bytes);
  }

  failSyncs(count: number): void {
    this.#disks.library.life_fail_syncs(this.#number, count);
  }

  /** The disk as it is found after a power cut: of what was not synchronised any part is there. */
  afterPowerCut(seed: number): Disk {
    const found = this.#disks.make();
    const [from, into] = [this.directory, found.directory].map((path) => ptr(Buffer.from(`${path}\0`)));
    this.#disks.library.life_image(this.#number, from as never, into as never, seed);
    this.#disks.library.life_found(into as never);
    return found;
  }

  /** The same disk after its processes were killed: all is there, synchronised or not. */
  afterKill(): Disk {
    const same = this.#disks.make();
    copyFiles(this.directory, same.directory);
    this.#disks.library.life_hand_over(this.#number, same.#number);
    same.slow_ms = this.slow_ms;
    return same;
  }

  /** Forgets a disk on which nothing is open any more. */
  end(): void {
    this.#disks.library.life_end(this.#number);
    rmSync(this.directory, { recursive: true, force: true });
  }
}

function copyFiles(from: string, to: string): void {
  for (const name of readdirSync(from))
    if (isOfDisk(name)) cpSync(join(from, name), join(to, name), { recursive: true });
}

/** Not the index of the log, which lives in memory, nor what means something to running processes alone. */
function isOfDisk(name: string): boolean {
  return !/-shm$|\.lock(-journal)?$|\.pid$/.test(name);
}

const disks_max = 4_000;
