import { existsSync, openSync, readSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type Clock, repeat } from "./clock.ts";
import { factIn, namesIn } from "./kernel-files.ts";
import { day_ms, hour_ms } from "./time.ts";

/** State of the machine that a gateway runs on. An absent value is not told by the machine: nothing is guessed. Times are unix milliseconds. */
export interface MachineHealth extends DiskWear {
  /** Bytes a day written to the disk since the machine started; absent in its first hour. */
  readonly written_a_day_bytes?: number;
  /** Of the hottest part that has a thermometer, °C. */
  readonly temperature_c?: number;
  /** Whether its power supply is too weak, and its processor slowed down, now. */
  readonly power_low?: boolean;
  readonly slowed?: boolean;
  /** When its power supply was last seen too weak; absent where it was not since the gateway started. */
  readonly power_low_ms?: number;
}

/** From here a Raspberry Pi slows itself down. */
const hot_c = 80;
/** From here on a disk has little life left. */
const worn_percent = 90;
/** A power supply that was too weak is told for so long. */
const power_told_ms = 7 * day_ms;

/** Whether a disk should be replaced by what it tells itself. */
export function isWorn({ life_used_percent = 0, spare_low = false }: DiskWear): boolean {
  return life_used_percent >= worn_percent || spare_low;
}

/** Whether the power supply is too weak, or was of late. */
export function isPowerLow(
  { power_low = false, power_low_ms }: Pick<MachineHealth, "power_low" | "power_low_ms">,
  now_ms: number,
): boolean {
  return power_low || (power_low_ms !== undefined && now_ms - power_low_ms < power_told_ms);
}

/** Whether the machine is so hot that it slows itself down, or soon will. */
export function isHot({ temperature_c }: Pick<MachineHealth, "temperature_c">): boolean {
  return temperature_c !== undefined && temperature_c >= hot_c;
}

/**
 * Asks the kernel, by a dozen small files at most.
 *
 * @param directory one on the disk that is asked about
 * @param where sysfs and procfs are mounted
 */
export function machineHealth(directory: string, { sys = "/sys", proc = "/proc" } = {}): MachineHealth {
  const wear = diskWear(directory, sys);
  const up_ms = Number((factIn(join(proc, "uptime")) ?? "").split(" ")[0]) * 1000;
  const temperature_c = hottest(sys);
  return {
    ...wear,
    ...(wear.written_bytes === undefined || !(up_ms >= hour_ms)
      ? {}
      : { written_a_day_bytes: Math.round((wear.written_bytes * day_ms) / up_ms) }),
    ...(temperature_c === undefined ? {} : { temperature_c }),
    ...power(sys),
  };
}

/** Looks at the power supply every `look_ms`: a weak one is so for seconds, when something draws current. */
export class PowerWatch {
  readonly #clock: Clock;
  readonly #sys: string;
  readonly #cancel: () => void = () => {};
  #low_ms: number | undefined;

  constructor(clock: Clock, sys = "/sys") {
    this.#clock = clock;
    this.#sys = sys;
    // A machine that does not tell at its start never does.
    if (power(sys).power_low === undefined) return;
    this.#look();
    this.#cancel = repeat(clock, look_ms, () => this.#look());
  }

  /** The last sight of a weak supply since the start. */
  seen(): Pick<MachineHealth, "power_low_ms"> {
    return this.#low_ms === undefined ? {} : { power_low_ms: this.#low_ms };
  }

  stop(): void {
    this.#cancel();
  }

  #look(): void {
    if (power(this.#sys).power_low) this.#low_ms = this.#clock.now().unix_ms;
  }
}

/** °C of the hottest zone; undefined where there is none that can be read. */
function hottest(sys: string): number | undefined {
  const zones = entries(join(sys, "class/thermal"), /^thermal_zone\d+$/);
  const told = zones.flatMap((zone) => {
    const text = factIn(join(sys, "class/thermal", zone, "temp"));
    return text !== undefined && /^-?\d+$/.test(text) ? [Number(text) / 1000] : [];
  });
  return told.length === 0 ? undefined : Math.max(...told);
}

/**
 * A Raspberry Pi's word on its power: the kernel's own alarm, which it looks up every two seconds, and the firmware's bits (0: voltage too
 * low, 1 to 3: slowed, each now). Source: drivers/hwmon/raspberrypi-hwmon.c; Raspberry Pi's documentation of get_throttled.
 */
function power(sys: string): Pick<MachineHealth, "power_low" | "slowed"> {
  const hwmon = join(sys, "class/hwmon");
  const monitor = entries(hwmon, /^hwmon\d+$/).find(
    (name) => factIn(join(hwmon, name, "name")) === "rpi_volt",
  );
  const alarm = monitor === undefined ? undefined : factIn(join(hwmon, monitor, "in0_lcrit_alarm"));
  const platform = join(sys, "devices/platform");
  const bits = entries(platform, /^soc/)
    .flatMap((soc) => entries(join(platform, soc), /firmware$/).map((name) => join(platform, soc, name)))
    .map((firmware) => factIn(join(firmware, "get_throttled")))
    .find((text) => text !== undefined && /^(0x)?[\da-f]{1,8}$/i.test(text));
  const throttled = bits === undefined ? undefined : Number.parseInt(bits, 16);
  const power_low = alarm === "1" || ((throttled ?? 0) & under_voltage) !== 0;
  return {
    ...(alarm === undefined && throttled === undefined ? {} : { power_low }),
    ...(throttled === undefined ? {} : { slowed: (throttled & slowed_bits) !== 0 }),
  };
}

function entries(directory: string, like: RegExp): string[] {
  return namesIn(directory)
    .filter((name) => like.test(name))
    .slice(0, entries_max);
}

const under_voltage = 0b0001;
const slowed_bits = 0b1110;
const entries_max = 32;
const look_ms = 10_000;

/** Wear of the disk of a directory, as far as the machine tells it: an absent value is not told. */
interface DiskWear {
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
function diskWear(directory: string, sys = "/sys"): DiskWear {
  const place = diskOf(directory, sys);
  if (place === undefined) return {};
  const [, , , , , , sectors] = (factIn(join(place, "stat")) ?? "").split(/\s+/);
  const life = factIn(join(place, "device/life_time"));
  const spare = numberIn(factIn(join(place, "device/pre_eol_info")));
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
export function diskOf(directory: string, sys: string): string | undefined {
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

function numberIn(text: string | undefined): number | undefined {
  return text !== undefined && /^(0x[\da-f]+|\d+)$/i.test(text) ? Number(text) : undefined;
}

/** Of `stat`, whatever the disk's own sectors have. */
const sector_bytes = 512;
/** 1 to 10 are tenths of the life, 11 is beyond it. */
const life_steps_max = 11;
const pre_eol_normal = 1;

/**
 * Tells how much memory this process has, bytes (proc(5), status: VmRSS). The file stays open: `process.memoryUsage` opens one each time, and fails where a
 * crowd of connections has taken every file descriptor, which is just when somebody asks for the status.
 */
export function memoryMeter(): () => number {
  const file = openSync("/proc/self/status", "r");
  const content = Buffer.alloc(content_bytes_max);
  return () => {
    const length = readSync(file, content, 0, content.length, 0);
    return Number(/^VmRSS:\s+(\d+) kB$/m.exec(content.toString("latin1", 0, length))?.[1] ?? 0) * 1024;
  };
}

const content_bytes_max = 8 * 1024;
