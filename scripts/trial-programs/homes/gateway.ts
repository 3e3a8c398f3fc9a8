import type { Batch } from "./batch.ts";
import { deviceNumbered, homeMark, kinds, seriesOfKind, slotOf, valueFrom } from "./marks.ts";
import { type Device, deviceName, type Reading } from "./model.ts";
import type { Random } from "./random.ts";

/** The gateway of a home: its clock, its numbers, and what it has sent. One call of a gateway is under way at a time. */
export class Gateway {
  readonly home: number;
  readonly heard: readonly Device[];
  readonly epochs: Epoch[];
  /** When its next reading is, unix milliseconds. */
  now_ms: number;
  /** Readings that it has made, and uploads of new ones that it has begun. */
  order = 0;
  uploads = 0;
  /** Uploads of before, to be repeated. */
  readonly sent: { readonly batch: Batch; readonly bytes: Uint8Array<ArrayBuffer> }[] = [];
  busy = false;
  /** The devices that it has told of, true or not. */
  readonly told = new Set<string>();
  #notes = 0;

  constructor({ home, heard, random }: { home: number; heard: readonly Device[]; random: Random }) {
    this.home = home;
    this.heard = heard;
    this.epochs = [newEpoch(random)];
    this.now_ms = begin_ms + random.below(600) * 1000;
  }

  get epoch(): Epoch {
    return this.epochs.at(-1) as Epoch;
  }

  /** A box that was replaced: another epoch, which may begin with any number. */
  replace(random: Random): void {
    if (this.epochs.length === epochs_max) return;
    this.epochs.push(newEpoch(random));
    this.#notes = 0;
  }

  /** New readings, some of them late, of one millisecond or on the second. */
  make(random: Random, count: number, of: () => Device, guessed?: number): Reading[] {
    const { home, epoch } = this;
    return Array.from({ length: count }, () => {
      this.now_ms += random.chance(0.15) ? 0 : 1 + random.below(step_ms_max);
      if (random.chance(0.2)) this.now_ms = Math.ceil(this.now_ms / 1000) * 1000;
      const late_ms = random.chance(0.1) ? random.below(late_ms_max) : 0;
      const device = of();
      const { name: series } = random.pick(seriesOfKind[device.kind]);
      this.order += 1;
      epoch.last_seq += 1;
      this.told.add(deviceName(device));
      return {
        ...{ ...device, home, series, stamp_ms: this.now_ms - late_ms, value: valueFrom(home, this.order) },
        ...{ order: this.order, upload: this.uploads, epoch: epoch.name, seq: epoch.last_seq, guessed },
      };
    });
  }

  /** Whether it hears the first sensor of another home. */
  hears({ address }: Device): boolean {
    return this.heard.some((device) => device.address === address);
  }

  /** A batch of readings that follow each other, some numbers of which may be lost. */
  batch(readings: readonly Reading[], { from_seq = readings[0]?.seq ?? 0 } = {}): Batch {
    const { name, first_seq } = this.epoch;
    const to_seq = readings.at(-1)?.seq ?? from_seq - 1;
    const held = new Set(readings.map(({ seq }) => seq));
    const missing: [number, number][] = [];
    for (let seq = from_seq; seq <= to_seq; seq += 1) if (!held.has(seq)) missing.push([seq, seq]);
    return { epoch: name, first_seq, from_seq, to_seq, missing, readings };
  }

  /** Keeps an upload that was answered. */
  remember(batch: Batch, bytes: Uint8Array<ArrayBuffer>): void {
    this.sent.push({ batch, bytes });
    if (this.sent.length > sent_max) this.sent.shift();
  }

  /** A report of the gateway, which tells of the health of these devices. Whatever it tells begins in the slot of its home. */
  report(random: Random, devices: readonly (Device & { itemid?: number })[]): object {
    const { home, epochs, now_ms } = this;
    for (const device of devices) this.told.add(deviceName(device));
    const after_note = this.#notes;
    const begins_ms = () => slotOf(home) + random.below(500) * 1000;
    const spans = devices.map((_, device) => ({ device, from_ms: begins_ms() }));
    if (devices.length > 0) this.#notes += 1;
    return {
      epochs: epochs.map(({ name, first_seq, last_seq }) => ({ epoch: name, first_seq, last_seq })),
      condition: {
        devices,
        listeners: [{ name: "zigbee", first_ms: slotOf(home), last_ms: now_ms }],
        states: devices.map((_, device) => ({
          ...{ device, first_ms: begins_ms(), heard_ms: now_ms, listener: "zigbee", battery_percent: 50 },
        })),
        after_note,
        to_note: this.#notes,
        outages: [],
        silences: spans.map(({ device, from_ms: start_ms }) => ({
          ...{ device, start_ms, stop_ms: start_ms + 20_000 },
        })),
        gaps: spans.map(({ device, from_ms }) => ({
          ...{ device, from_ms: from_ms + 30_000, to_ms: from_ms + 50_000, reason: "missed_broadcasts" },
          lost: valueFrom(home, random.below(1000)),
        })),
      },
      report: {
        ...{ version: homeMark(home), now_ms, clock_synchronised: true, timezone: homeMark(home) },
        ...{ last_seq: this.epoch.last_seq, waiting: 0, disk_free_bytes: 1e10, bytes_on_disk: 1e6 },
        ...{ dropped: {}, differing_days: 0, failure: homeMark(home) },
      },
    };
  }
}

/** A name that a gateway numbers readings in. */
export interface Epoch {
  readonly name: string;
  readonly first_seq: number;
  last_seq: number;
}

function newEpoch(random: Random): Epoch {
  const name = Array.from({ length: 32 }, () => random.below(16).toString(16)).join("");
  const first_seq = random.chance(0.7) ? 1 : 1 + random.below(5000);
  return { name, first_seq, last_seq: first_seq - 1 };
}

/** A device that only a liar makes up: the address of one kind under another. */
export function disguised({ kind, address }: Device, random: Random): Device {
  return { kind: random.pick(kinds.filter((other) => other !== kind)), address };
}

/** The first sensor of a home, which never moves. */
export const anchorOf = (home: number) => ({
  ...deviceNumbered("wirelesssensors", home * 10),
  itemid: home * 10,
});

/** When the trial's readings begin. */
export const begin_ms = Date.UTC(2025, 0, 1);
const step_ms_max = 8 * 60_000;
const late_ms_max = 2 * 86_400_000;
const epochs_max = 4;
const sent_max = 12;
