import { readdirSync, readFileSync, readlinkSync, statSync } from "node:fs";

/**
 * Says who holds a device, as far as this user may see: `process 123 (ser2net)`, `this process`, or
 * `another process`.
 */
export function holderOf(path: string): string {
  const pid = pidOfLock(path) ?? pidOfOpenFile(path);
  if (pid === undefined) return "another process";
  return pid === process.pid ? "this process" : `process ${pid}${nameOf(pid)}`;
}

/** The owner of the file's lock, from lines such as `1: FLOCK  ADVISORY  WRITE 123 00:1a:5 0 EOF`. */
function pidOfLock(path: string): number | undefined {
  const { dev, ino } = statSync(path);
  const major = (dev >> 8) & 0xfff;
  const minor = (dev & 0xff) | ((dev >> 12) & 0xfff00);
  const file = `${hex(major)}:${hex(minor)}:${ino}`;
  const line = text("/proc/locks")
    .split("\n")
    .find((line) => line.includes(` FLOCK `) && line.includes(` ${file} `));
  const pid = Number(line?.trim().split(/\s+/)[4]);
  return pid > 0 ? pid : undefined;
}

/** The first other process that has the device open. */
function pidOfOpenFile(path: string): number | undefined {
  const { rdev } = statSync(path);
  return names("/proc")
    .map(Number)
    .find((pid) => pid > 0 && pid !== process.pid && opens(pid, rdev));
}

function opens(pid: number, rdev: number): boolean {
  const directory = `/proc/${pid}/fd`;
  return names(directory).some((fd) => {
    try {
      const target = readlinkSync(`${directory}/${fd}`);
      return target.startsWith("/dev/") && statSync(target).rdev === rdev;
    } catch {
      return false; // closed meanwhile, or a device that is gone
    }
  });
}

function nameOf(pid: number): string {
  const name = text(`/proc/${pid}/comm`).trim();
  return name === "" ? "" : ` (${name})`;
}

/** Entries of a directory in /proc; none where it is another user's, or the process has ended. */
function names(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function text(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function hex(number: number): string {
  return number.toString(16).padStart(2, "0");
}
