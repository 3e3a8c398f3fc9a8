import type { Kind } from "../../domain/kinds.ts";
import type { GapReason } from "../../domain/reading.ts";
import type { Item } from "../../domain/records/item.ts";
import type { BatchDevice } from "../batch.ts";
import { arrays, objects, rowsOf, rowsOfAll, type Statement, type Work } from "../database.ts";
import type { DeviceHealth } from "../exchange.ts";

/** Everything that a gateway knows besides readings: see `UploadStore.deviceHealthAfter`. To be read at one moment. */
export function* deviceHealthAfter(
  after_note: number,
  notes_max: number,
  { after_device, max: states_max } = { after_device: 0, max: Number.MAX_SAFE_INTEGER - 1 },
): Work<DeviceHealth> {
  const devices = new BatchDevices(yield* devicesByStream());
  // One more than is told of each, to see that there are more.
  const noted = <Row>(table: string, columns: string): Statement<Row> =>
    objects(
      `SELECT note, ${columns} FROM ${table} WHERE note > $1 ORDER BY note LIMIT $2`,
      after_note,
      notes_max + 1,
    );
  const [listeners, statesAndOne, outages, silences, gaps, [lastNote]] = yield* rowsOfAll(
    objects<DeviceHealth["listeners"][number]>(
      "SELECT name, first_ms, last_ms FROM listeners WHERE home = 0 ORDER BY name",
    ),
    objects<StateRow>(
      `SELECT stream, first_ms, heard_ms, listener, battery_percent, battery_mv, linkquality, facts
       FROM stream_states WHERE home = 0 AND stream > $1 ORDER BY stream LIMIT $2`,
      after_device,
      states_max + 1,
    ),
    noted<OutageRow>("outages", "listener, start_ms, stop_ms"),
    noted<SilenceRow>("silences", "stream, start_ms, stop_ms"),
    noted<NotedGapRow>("gaps", "stream, from_ms, to_ms, reason, lost"),
    arrays<[number]>("SELECT value FROM meta WHERE name = 'last_note'"),
  );
  const states = statesAndOne.slice(0, states_max);
  const notes = [...outages, ...silences, ...gaps].map(({ note }) => note).sort((one, other) => one - other);
  const all = notes.length <= notes_max;
  const to_note = all ? Math.max(lastNote?.[0] ?? 0, after_note) : (notes[notes_max - 1] ?? after_note);
  const told = ({ note }: NumberedNote) => note <= to_note;
  return {
    after_note,
    to_note,
    listeners,
    states: states.map(({ stream, first_ms, heard_ms, facts, ...values }) => {
      const known = Object.entries(values).filter(([, value]) => value !== null);
      const state = { device: devices.place(stream), first_ms, heard_ms, ...Object.fromEntries(known) };
      return facts === null ? state : { ...state, history: JSON.parse(facts) };
    }),
    ...(states.length < statesAndOne.length ? { next_device: states.at(-1)?.stream ?? 0 } : {}),
    outages: outages.filter(told).map(({ note: _, ...outage }) => outage),
    silences: silences
      .filter(told)
      .map(({ note: _, stream, ...silence }) => ({ device: devices.place(stream), ...silence })),
    gaps: gaps.filter(told).map(({ note: _, stream, lost, ...gap }) => {
      return { device: devices.place(stream), ...gap, lost: lost ?? undefined };
    }),
    devices: devices.list,
  };
}

interface NumberedNote {
  readonly note: number;
}

type OutageRow = NumberedNote & DeviceHealth["outages"][number];
type SilenceRow = NumberedNote & {
  readonly stream: number;
  readonly start_ms: number;
  readonly stop_ms: number;
};

interface NotedGapRow extends NumberedNote {
  readonly stream: number;
  readonly from_ms: number;
  readonly to_ms: number;
  readonly reason: GapReason;
  readonly lost: number | null;
}

interface StateRow {
  readonly stream: number;
  readonly first_ms: number;
  readonly heard_ms: number;
  readonly listener: string | null;
  readonly battery_percent: number | null;
  readonly battery_mv: number | null;
  readonly linkquality: number | null;
  readonly facts: string | null;
}

/** The list of devices that a batch or `DeviceHealth` names by their places. */
export class BatchDevices {
  readonly list: BatchDevice[] = [];
  readonly #places = new Map<string, number>();
  readonly #known: ReadonlyMap<number, BatchDevice>;

  /** `known`: as `devicesByStream` has them. */
  constructor(known: ReadonlyMap<number, BatchDevice>) {
    this.#known = known;
  }

  /** `kind`: of the series whose readings are meant, whatever the inventory has made of the item since. */
  place(stream: number, kind?: Kind): number {
    const name = `${stream} ${kind ?? ""}`;
    const place = this.#places.get(name);
    if (place !== undefined) return place;
    const device = this.#known.get(stream);
    if (device === undefined) throw new Error(`readings are kept under stream ${stream}, which is not there`);
    this.list.push(kind === undefined ? device : { ...device, kind });
    this.#places.set(name, this.list.length - 1);
    return this.list.length - 1;
  }

  /** The same object for the same stream and kind, as `BatchColumns` asks. */
  device(stream: number, kind: Kind): BatchDevice {
    return this.list[this.place(stream, kind)] as BatchDevice;
  }
}

/** The devices of all streams, by key: a home has some tens. */
export function* devicesByStream(): Work<Map<number, BatchDevice>> {
  const rows = yield* rowsOf(
    objects<StreamItemRow>(
      "SELECT streams.key, record, items.address, provisional FROM streams JOIN items ON items.key = item",
    ),
  );
  return new Map(
    rows.map(({ key, record: text, address, provisional }) => {
      const record = JSON.parse(text) as Item;
      const { typename, itemid, subtypename, modelname, vendorname } = record;
      return [
        key,
        {
          kind: typename as Kind,
          address:
            address === null || address.length > address_length_max || address.startsWith("#") ? "" : address,
          itemid: provisional ? undefined : itemid,
          subtype: told(subtypename),
          model: told(modelname),
          vendor: told(vendorname),
        },
      ];
    }),
  );
}

interface StreamItemRow {
  readonly key: number;
  readonly record: string;
  readonly address: string | null;
  readonly provisional: number;
}

function told(value: string | null): string | undefined {
  return value === null || value === "null" || value === "" ? undefined : value.slice(0, word_length_max);
}

/** Lengths that a batch allows. A longer address cannot be a device's. */
const address_length_max = 64;
const word_length_max = 200;
