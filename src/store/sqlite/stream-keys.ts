import type { Item } from "../../records/items.ts";
import { normalAddress } from "../address.ts";
import type { BatchDevice } from "../batch.ts";
import { callAsGiven } from "../core/given-names.ts";
import { completeItems, type ItemAndStream } from "../core/items.ts";
import { toldSince } from "../provisional-item.ts";
import type { Runner } from "./runner.ts";

/** The streams of a gateway's devices: remembered, because every reading asks. Works inside the caller's transaction. */
export class StreamKeys {
  readonly #runner: Runner;
  readonly #home: number | undefined;
  readonly #known = new Map<string, ItemAndStream>();

  /** @param home of the gateway, where it has a number */
  constructor(runner: Runner, home: number | undefined) {
    this.#runner = runner;
    this.#home = home;
  }

  /** The key of a device's stream; a provisional item is made, and added by name to `created`, where there is none yet. */
  keyOf(device: BatchDevice, heard_ms: number, created: string[]): number {
    const name = `${device.kind} ${normalAddress(device.address) ?? ""} ${device.itemid ?? ""}`;
    const known = this.#known.get(name);
    if (known !== undefined && !hasNews(known.provisional, device)) return known.stream;
    const [made] = this.#runner.run(completeItems([{ device, heard_ms }], { home: 0, homeid: this.#home }));
    if (made === undefined) throw new Error(`no item was made of ${name}`);
    const item = made.isNew ? { ...made, provisional: this.#asGiven(device) ?? made.provisional } : made;
    if (item.isNew) created.push(item.provisional?.itemname ?? "");
    // Who was known by its number so far may have just the address of a new one.
    if (item.isNew || this.#known.size >= known_max) this.#known.clear();
    this.#known.set(name, item);
    return item.stream;
  }

  #asGiven({ kind, address }: BatchDevice): Item | undefined {
    const normal = normalAddress(address);
    return normal === undefined ? undefined : this.#runner.run(callAsGiven(kind, normal));
  }

  /** Drops everything: after a rollback, or when another process wrote. */
  forget(): void {
    this.#known.clear();
  }
}

function hasNews(provisional: Item | undefined, device: BatchDevice): boolean {
  return provisional !== undefined && toldSince(provisional, device) !== undefined;
}

const known_max = 20_000;
