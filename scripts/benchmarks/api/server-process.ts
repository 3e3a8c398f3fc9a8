import { readFileSync } from "node:fs";
import { join } from "node:path";

/** A server in a process of its own. */
export interface ServerProcess {
  readonly port: number;
  /** The text of a GET request for a path below the version, with further header lines. */
  get(path: string, headers?: string): string;
  /** Megabytes resident, now. */
  resident_mb(): number;
  stop(): Promise<void>;
}

export async function startServer(options: {
  directory: string;
  cache_bytes_max: number;
  readings_per_s?: number;
}): Promise<ServerProcess> {
  const { directory, cache_bytes_max, readings_per_s = 0 } = options;
  const script = join(import.meta.dir, "serve.ts");
  const command = [process.execPath, script, directory, String(cache_bytes_max), String(readings_per_s)];
  const started = await startCommand(command);
  const { port, token } = started.said as { port: number; token: string };
  const fixed = `Host: 127.0.0.1:${port}\r\nAuthorization: bearer ${token}\r\nAccept: application/json\r\n`;
  return {
    port,
    get: (path, headers = "") => `GET /v0.9${path} HTTP/1.1\r\n${fixed}${headers}\r\n`,
    resident_mb: () => residentOf(started.pid),
    stop: started.stop,
  };
}

/** Starts a server, and answers what it says in its first line, which is JSON. */
export async function startCommand(command: string[]) {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const line = await firstLine(child.stdout);
  return {
    said: JSON.parse(line) as unknown,
    pid: child.pid,
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

export function residentOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) / 1000;
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  const reader = stream.getReader();
  while (!text.includes("\n")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`a server ended before it listened: ${text}`);
    text += decoder.decode(value, { stream: true });
  }
  reader.releaseLock();
  return text.slice(0, text.indexOf("\n"));
}
