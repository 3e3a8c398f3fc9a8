import { parseArgs } from "node:util";
import { type TransportKind, transportKinds } from "./simulated-line.ts";

/**
 * Options of a simulator's process: where its line is to be, and its own options. Prints `help` and ends where that was
 * asked for.
 */
export async function simulatorOptions<Own extends Record<string, { type: "string"; default?: string }>>(
  help: string,
  own: Own,
): Promise<{
  line: { transport: TransportKind; port: number; link?: string };
  own: Partial<Record<keyof Own, string>>;
}> {
  const { values } = parseArgs({
    options: {
      transport: { type: "string", default: "tcp" },
      port: { type: "string", default: "0" },
      link: { type: "string" },
      ...own,
      help: { type: "boolean", default: false },
    },
  });
  const { help: asked, ...told } = values as { help?: boolean };
  if (asked === true) {
    await Bun.write(Bun.stdout, `${help}\n`);
    process.exit(0);
  }
  const { transport, port, link, ...others } = told as Record<string, string | undefined>;
  const kind = transportKinds.find((one) => one === transport);
  if (kind === undefined)
    throw new RangeError(`--transport is one of ${transportKinds.join(", ")}, not ${transport}`);
  return {
    line: {
      transport: kind,
      port: Number(port),
      ...(link === undefined ? {} : { link }),
    },
    own: others as Partial<Record<keyof Own, string>>,
  };
}
/**
 * A simulator as a process of its own: says where it is reached as one JSON line, then answers each JSON line of
 * its input with one, `{"ok":true,…}` or `{"error":"…"}`. Closes the simulator and ends when its input does.
 */
export async function obeyLines<Command>(options: {
  simulator: { readonly path: string; close(): Promise<void> };
  obey: (command: Command) => object | Promise<object>;
  /** More fields of its first line. */
  also?: object;
}): Promise<never> {
  const { simulator, obey, also } = options;
  await say({ path: simulator.path, ...also });
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
