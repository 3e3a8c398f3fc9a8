/**
 * Somebody with a read token who asks for the dearest things there are, many at once and at once again, whatever is answered: a process of its own that reads an `Order`,
 * says `begun` on a line, `refused` once it was told 429 for each of some kinds of path, and once its standard input ends how often it was answered what, as JSON.
 */
export interface Order {
  readonly origin: string;
  readonly token: string;
  readonly at_once: number;
  /** Paths, asked for in turn. Those of `/v` by the token in a header, all others by a session. */
  readonly paths: readonly string[];
  /** Kinds of path, by their first word: `plots`. */
  readonly kinds: readonly string[];
}

/** By kind of path, how often each status came; `none` where the connection was closed. */
export type Answered = Readonly<Record<string, Readonly<Record<string, number>>>>;

if (import.meta.main) {
  const input = Bun.stdin.stream().getReader();
  const { value } = await input.read();
  const order: Order = JSON.parse(new TextDecoder().decode(value));
  const ended = new AbortController();
  const answered: Record<string, Record<string, number>> = {};
  let isRefused = false;
  const asking = Array.from({ length: order.at_once }, (_, first) => ask(order, first));
  console.log("begun");
  while (!(await input.read()).done);
  ended.abort();
  await Promise.all(asking);
  console.log(JSON.stringify(answered));
  process.exit(0);

  async function ask({ origin, token, at_once, paths }: Order, first: number): Promise<void> {
    const cookie = `lintel-${new URL(origin).port}=${token}`;
    for (let turn = first; !ended.signal.aborted; turn += at_once) {
      const path = paths[turn % paths.length] ?? "/";
      const headers: Record<string, string> = path.startsWith("/v")
        ? { authorization: `bearer ${token}`, accept: "application/json" }
        : { cookie, accept: "text/html" };
      const status = await fetch(origin + path, { headers, signal: ended.signal, redirect: "manual" })
        .then(async (response) => {
          for await (const _ of response.body ?? []) if (ended.signal.aborted) break;
          return String(response.status);
        })
        .catch(() => "none");
      if (ended.signal.aborted) return;
      const kind = /^\/(v[^?]*\/)?([^/?]*)/.exec(path)?.[2] ?? "";
      answered[kind] ??= {};
      const counts = answered[kind];
      counts[status] = (counts[status] ?? 0) + 1;
      if (!isRefused && order.kinds.every((one) => answered[one]?.["429"] !== undefined)) {
        isRefused = true;
        console.log("refused");
      }
      if (status === "none") await Bun.sleep(1);
    }
  }
}
