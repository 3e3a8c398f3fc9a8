import { openSync, readSync } from "node:fs";

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
