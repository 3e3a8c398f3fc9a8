/**
 * The model: what every home has sent, and where the programme says that items lived. It says what central has to answer, and
 * knows nothing of how central keeps it. Times are unix milliseconds unless they end in `_s`.
 */

/** A device as it is heard, in any home. */
export interface Device {
  readonly kind: Kind;
  readonly address: string;
}
export type Kind = "wirelesssensors" | "pillboxes" | "scales" | "watches";

/** A reading as its home sent it. Its value is nobody else's, and has the home in it. */
export interface Reading extends Device {
  readonly home: number;
  readonly series: string;
  readonly stamp_ms: number;
  readonly value: number;
  /** Its place among the readings of its home, and of which upload of the home it was. */
  readonly order: number;
  readonly upload: number;
  readonly epoch: string;
  readonly seq: number;
  /** The item whose number its home has guessed for it. */
  readonly guessed?: number | undefined;
}

/** An item as the programme has it, and its row of `home_inventory` for each home and start. */
export interface Item extends Device {
  readonly itemid: number;
  readonly itemname: string;
  readonly currenthomeid: number | null;
  readonly currenthomestart: number | null;
  readonly rows: readonly Row[];
}
export interface Row {
  readonly homeid: number;
  readonly start: number | null;
  readonly stop: number | null;
}

/** A time that an item lived in a home: from `from_ms` on, and below `before_ms`. */
export interface Stay {
  readonly home: number;
  readonly from_ms: number;
  readonly before_ms: number;
}

/**
 * Where an item lived when: by the records of the homes' inventories, and by its own, from its start on or since it was last taken out of any, unless a
 * record says that it is there. A stay ends at its stop, or where the next one starts. The first reaches back to ever.
 */
export function staysOf({ currenthomeid, currenthomestart, rows }: Item): Stay[] {
  const told = rows.map(({ homeid, start, stop }) => ({
    home: homeid,
    start: start ?? 0,
    stop: stop ?? Infinity,
  }));
  told.sort((one, other) => one.start - other.start || one.home - other.home);
  const isThere = told.some(({ home, stop }) => home === currenthomeid && stop === Infinity);
  if (currenthomeid !== null && !isThere) {
    const start = currenthomestart ?? Math.max(0, ...rows.map(({ stop }) => stop ?? 0));
    told.push({ home: currenthomeid, start, stop: Infinity });
    told.sort((one, other) => one.start - other.start);
  }
  const spans = told.map(({ home, start, stop }, place) => ({
    home,
    from_ms: place === 0 ? -Infinity : start * 1000,
    before_ms: Math.min(stop, told[place + 1]?.start ?? Infinity) * 1000,
  }));
  return spans.filter(({ from_ms, before_ms }) => from_ms < before_ms);
}

/** How far each home had uploaded, and what the programme had said. */
export interface Moment {
  readonly uploads: ArrayLike<number>;
  readonly inventory: Inventory;
}
/** The items of the programme, by number, and which devices they are: never changed once made. */
export interface Inventory {
  readonly items: ReadonlyMap<number, Item>;
  readonly devices: ReadonlyMap<string, Item>;
}
export const deviceName = ({ kind, address }: Device) => `${kind} ${address}`;

export class Model {
  /** Of each home, in the order in which it sent them. */
  readonly #ofHome = new Map<number, Reading[]>();
  /** Of each series of a device in a home, by stamp, then in the order in which they were sent. */
  readonly #streams = new Map<string, Reading[]>();

  send(readings: readonly Reading[]): void {
    for (const reading of readings) {
      const name = `${reading.series} ${reading.address} ${reading.home}`;
      const stream = this.#streams.get(name) ?? [];
      if (stream.length === 0) this.#streams.set(name, stream);
      let place = stream.length;
      while (place > 0 && (stream[place - 1] as Reading).stamp_ms > reading.stamp_ms) place -= 1;
      stream.splice(place, 0, reading);
      const of = this.#ofHome.get(reading.home);
      if (of === undefined) this.#ofHome.set(reading.home, [reading]);
      else of.push(reading);
    }
  }

  /** All that a home has sent, in its order. */
  sentBy(home: number): readonly Reading[] {
    return this.#ofHome.get(home) ?? [];
  }

  /** A series of an item, newest first: what the homes that it lived in sent, each within its stays there. */
  *page(item: Item, series: string, { uploads }: Moment, { homes, before_ms = Infinity }: Only = {}) {
    for (const stay of staysOf(item).reverse())
      if (homes?.has(stay.home) !== false)
        yield* this.#newestFirst(
          { ...item, series, home: stay.home },
          { from_ms: stay.from_ms, before_ms: Math.min(stay.before_ms, before_ms), uploads },
        );
  }

  /** The same of a device that is in no inventory, which is an item of the home that sent it. */
  *provisional(
    device: Device,
    home: number,
    series: string,
    { uploads }: Moment,
    { before_ms = Infinity } = {},
  ) {
    yield* this.#newestFirst({ ...device, series, home }, { from_ms: -Infinity, before_ms, uploads });
  }

  *#newestFirst(
    { series, address, home }: { series: string; address: string; home: number },
    { from_ms, before_ms, uploads }: { from_ms: number; before_ms: number; uploads: ArrayLike<number> },
  ): Generator<Reading> {
    const stream = this.#streams.get(`${series} ${address} ${home}`) ?? [];
    for (let place = firstFrom(stream, before_ms) - 1; place >= 0; place -= 1) {
      const reading = stream[place] as Reading;
      if (reading.stamp_ms < from_ms) return;
      if (reading.upload <= (uploads[home] ?? 0)) yield reading;
    }
  }
}

/** Only what these homes have sent, and below a time. */
export interface Only {
  readonly homes?: ReadonlySet<number>;
  readonly before_ms?: number;
}

/** The place of the first reading from a time on. */
function firstFrom(stream: readonly Reading[], time_ms: number): number {
  let [low, high] = [0, stream.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((stream[middle] as Reading).stamp_ms < time_ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
