import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";

/** Wear of the disk of a directory, as far as the machine tells it: an absent value is not told. */
export interface DiskWear {
  /** Its name, such as `mmcblk0`. */
  readonly disk?: string;
  /** Bytes written to it since the machine started, by everybody. */
  readonly written_bytes?: number;
  /** At most so much of its life is used, in steps of 10 %; 110 where it has outlived what its maker promised. */
  readonly life_used_percent?: number;
  /** Blocks that stand in for broken ones are running out, as the disk itself says. */
  readonly spare_low?: boolean;
}

/**
 * Asks the kernel for the wear of the disk that a directory is on. Life is told by eMMC alone: `life_time` and `pre_eol_info` of JEDEC
 * JESD84-B51, 7.4; memory cards have no such register that the kernel reads.
 *
 * @param sys where sysfs is mounted
 */
export function diskWear(directory: string, sys = "/sys"): DiskWear {
  const place = diskOf(directory, sys);
  if (place === undefined) return {};
  const [, , , , , , sectors] = (readWear(join(place, "stat")) ?? "").split(/\s+/);
  const life = readWear(join(place, "device/life_time"));
  const spare = numberIn(readWear(join(place, "device/pre_eol_info")));
  // Of the two kinds of memory that an eMMC may have, the one that is worn more; 0 is not told.
  const steps = Math.max(0, ...(life ?? "").split(/\s+/).map((word) => numberIn(word) ?? 0));
  return {
    disk: basename(place),
    ...(sectors === undefined || !/^\d+$/.test(sectors)
      ? {}
      : { written_bytes: Number(sectors) * sector_bytes }),
    ...(steps === 0 || steps > life_steps_max ? {} : { life_used_percent: steps * 10 }),
    ...(spare === undefined || spare === 0 ? {} : { spare_low: spare > pre_eol_normal }),
  };
}

/** The directory of sysfs of the whole disk; undefined where a directory is on none, as in memory. */
function diskOf(directory: string, sys: string): string | undefined {
  const { dev } = statSync(directory, { bigint: true });
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn);
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn);
  try {
    const place = realpathSync(join(sys, "dev/block", `${major}:${minor}`));
    return existsSync(join(place, "partition")) ? dirname(place) : place;
  } catch {
    return undefined;
  }
}

function readWear(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8").trim();
  } catch {
    return undefined;
  }
}

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^(0x[\da-f]+|\d+)$/i.test(text) ? Number(text) : undefined;
}

/** Of `stat`, whatever the disk's own sectors have. */
const sector_bytes = 512;
/** 1 to 10 are tenths of the life, 11 is beyond it. */
const life_steps_max = 11;
const pre_eol_normal = 1;
