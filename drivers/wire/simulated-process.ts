/**
 * A simulator as a process of its own: says where it is reached as one JSON line, then answers each JSON line of
 * its input with one, `{"ok":true,…}` or `{"error":"…"}`. Closes the simulator and ends when its input does.
 */
export async function obeyLines<Command>(options: {
  simulator: { readonly path: string; close(): Promise<void> };
  obey: (command: Command) => object | Promise<object>;
}): Promise<never> {
  const { simulator, obey } = options;
  await say({ path: simulator.path });
  for await (const line of console) {
    if (line.trim() === "") continue;
    try {
      await say({ ok: true, ...(await obey(JSON.parse(line) as Command)) });
    } catch (thrown) {
      await say({ error: String(thrown) });
    }
  }
  await simulator.close();
  process.exit(0);
}

async function say(answer: object): Promise<void> {
  await Bun.write(Bun.stdout, `${JSON.stringify(answer)}\n`);
}
