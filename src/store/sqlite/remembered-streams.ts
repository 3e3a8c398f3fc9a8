import type { Item } from "../../domain/records/item.ts";
import type { BatchDevice } from "../batch.ts";
import { erasedAt, isOfDevice } from "../erasure.ts";
import { completeItems, type ItemAndStream } from "../inventory/device-items.ts";
import { normalAddress, toldSince } from "../inventory/item-names.ts";
import { callAsGiven } from "../inventory/naming.ts";
import { type Unkept, unkeptIn } from "../inventory/pausing.ts";
import { isOpen, pausePlace, unkeptNames } from "../pause.ts";
import type { Runner } from "./sqlite-database.ts";

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

/** The times of which nothing of a gateway's home is kept, remembered, because every reading asks. Works inside the caller's transaction. */
export class UnkeptTimes {
  readonly #runner: Runner;
  #known: readonly Unkept[] | undefined;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  /** All of them. */
  spans(): readonly Unkept[] {
    this.#known ??= this.#runner.run(unkeptIn(0));
    return this.#known;
  }

  /**
   * Why nothing is kept of a device at a moment, as `lintel status` names what was dropped; undefined: it is kept.
   *
   * @param unsure_ms by how much the moment may be off: of what may be of a pause nothing is kept
   */
  why(device: BatchDevice, at_ms: number, unsure_ms = 0): string | undefined {
    const span =
      erasedAt(this.spans(), device, at_ms) ??
      this.spans().find(
        ({ place, from_ms, before_ms, ...of }) =>
          place === pausePlace &&
          at_ms + unsure_ms >= from_ms &&
          at_ms - unsure_ms < before_ms &&
          isOfDevice(of, device),
      );
    return span && (span.place === pausePlace ? pausedName(span) : unkeptNames.erased);
  }

  /** The name of a pause of a device that has begun and that nobody has ended: what comes now is of it, whatever time it is. */
  pausedNow(device: BatchDevice): string | undefined {
    // Where the end of an enrollment is still to come, what has no time yet waits for it.
    const open = this.spans().find(
      (span) => span.place === pausePlace && isOpen(span) && isOfDevice(span, device),
    );
    return open && pausedName(open);
  }

  /** Drops everything: after a rollback, or when another process wrote. */
  forget(): void {
    this.#known = undefined;
  }
}

function pausedName({ why }: Unkept): string {
  if (why === "consent_withdrawn" || why === "restricted") return unkeptNames.withdrawn;
  return why === "enrollment_ended" ? unkeptNames.ended : unkeptNames.paused;
}
