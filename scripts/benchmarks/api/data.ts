import { join } from "node:path";

/** The same events in a store and in a rowid table. */
export interface Data {
  readonly events: number;
  readonly items: number;
  /** Data directory of a gateway; item n of the rowid table is the one with key n. */
  readonly store: string;
  readonly storeBytes: number;
  /** File of the rowid table: `events (id, item, stamp, event)`, stamp in unix seconds. */
  readonly rowid: string;
  /** A page of 1,000 events before this, and no other page asked for has any of them. */
  readonly pages: readonly { readonly item: number; readonly before_s: number }[];
}

/** Name of the item with this key. */
export function nameOf(item: number): string {
  return `wirelesssensor-${addressOf(item).replaceAll(":", "")}`;
}

export function addressOf(item: number): string {
  return `00:0d:6f:00:05:a1:00:${item.toString(16).padStart(2, "0")}`;
}

/** Has so many events written into a new directory, by a program of `with-source/api/` in a process of its own. */
export async function madeData(options: { directory: string; events: number; items: number }): Promise<Data> {
  const { directory, events, items } = options;
  const program = join(import.meta.dir, "../with-source/api/make-data.ts");
  const child = Bun.spawn([process.execPath, program, directory, String(events), String(items)], {
    stderr: "inherit",
  });
  const out = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error("the data could not be made");
  return JSON.parse(out);
}
