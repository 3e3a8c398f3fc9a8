/** Starts a server, and answers what it says in its first line, which is JSON. */
export async function startCommand(command: string[]) {
  const child = Bun.spawn(command, { stdout: "pipe", stderr: "inherit" });
  const line = await firstLine(child.stdout);
  return {
    pid: child.pid,
    said: JSON.parse(line) as unknown,
    stop: async () => {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
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
