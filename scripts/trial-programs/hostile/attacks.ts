import { constants, zstdCompressSync } from "node:zlib";
import { batchType, packed } from "../wire/frame.ts";
import { batchBytes, epochNamed, eventSeries, reportOf, type SensorEvent } from "./wire.ts";

/** Everything that somebody has who holds the sync token of one home. */
export interface Enemy {
  readonly origin: string;
  readonly token: string;
  /** Of other homes: their epochs, their sensors, and batches of theirs. */
  readonly epochs: readonly string[];
  readonly sensors: readonly string[];
  readonly batches: readonly Uint8Array<ArrayBuffer>[];
  /** From 0 up to `bound`, whole. */
  readonly below: (bound: number) => number;
}

/** Answers that an attack may get besides 429 and 503; 0 is a connection that central closed. Any other is a fault of central. */
export type Attack = (
  enemy: Enemy,
) => Promise<{ readonly may: readonly number[]; readonly got: readonly number[] }>;

export const attacks: Readonly<Record<string, Attack>> = {
  "numbers without end": async (enemy) => {
    const epoch = epochNamed(`span ${enemy.below(50)}`);
    const far = 2 ** (40 + enemy.below(13)) - enemy.below(2);
    const said = [
      { epoch, from_seq: 1, to_seq: far, missing: [[1, far]] },
      { epoch, first_seq: far, from_seq: far, to_seq: far, missing: [[far, far]] },
      { epoch, from_seq: 1, to_seq: 70_000, missing: [[1, 70_000]] },
      { epoch, from_seq: far, to_seq: 1 },
    ];
    return answers(
      refused,
      said.map((one) => post(enemy, "/batches", batchBytes(one))),
    );
  },
  "lost numbers, as many as a batch may have": async (enemy) => {
    const from_seq = 1 + 65_536 * enemy.below(4);
    const to_seq = from_seq + 65_535;
    const said = { epoch: epochNamed("lost"), from_seq, to_seq, missing: [[from_seq, to_seq]] };
    return answers([200, 409, 422], [post(enemy, "/batches", batchBytes(said))]);
  },
  "epochs of other homes": async (enemy) => {
    const epoch = pick(enemy, enemy.epochs);
    const batch = pick(enemy, enemy.batches);
    const header = { "lintel-batch": `${epoch} 1 1` };
    const digest = {
      series: "wirelesssensor_events",
      kind: "wirelesssensors",
      address: pick(enemy, enemy.sensors),
    };
    const verify = { epoch, through_seq: 10, from_ms: 0, before_ms: 86_400_000, digests: [] };
    const day = new URLSearchParams({ ...digest, epoch, through: "10", day: "20000", after: "0" });
    return answers(
      [409, 422],
      [
        post(enemy, "/batches", batch, header),
        post(enemy, "/batches", batch),
        json(enemy, "/report", reportOf(epoch, 2 ** 39)),
        json(enemy, "/verify", verify),
        ask(enemy, "PUT", `/days?${day}`, batchBytes({ epoch, from_seq: 1, to_seq: 10 }), batchType),
      ],
    );
  },
  "a flood of devices": async (enemy) => {
    const epoch = epochNamed(`devices ${enemy.below(20)}`);
    const events = times(9_000, (index) => event(address(enemy), index));
    return answers([200, 409, 422], [post(enemy, "/batches", batch(epoch, 1, events))]);
  },
  "a flood of epochs": async (enemy) => {
    const epoch = epochNamed(`epoch ${enemy.below(1e9)}`);
    return answers(
      [200, 422],
      [
        post(enemy, "/batches", batch(epoch, 1, [event(mine[0], 1)])),
        json(enemy, "/report", reportOf(epoch, 1)),
      ],
    );
  },
  "sensors and itemids of other homes": async (enemy) => {
    const epoch = epochNamed(`claims ${enemy.below(20)}`);
    const events = times(20, (index) => event(pick(enemy, enemy.sensors), index));
    const devices = times(200, (itemid) => ({ kind: "wirelesssensors", address: "", itemid }));
    const states = devices.map((_, device) => ({ device, first_ms: 1, heard_ms: Date.now() }));
    const gaps = devices.map((_, device) => ({
      device,
      from_ms: 1,
      to_ms: Date.now(),
      reason: "overwritten",
    }));
    const condition = { devices, states, gaps, to_note: enemy.below(1e9) };
    return answers(
      [200, 409, 422],
      [
        post(enemy, "/batches", batch(epoch, 1, events)),
        json(enemy, "/report", reportOf(epoch, 20, { condition })),
        ask(enemy, "GET", "/roster"),
        ask(enemy, "GET", "/history?from=0"),
      ],
    );
  },
  "readings, as many as go in": async (enemy) => {
    const epoch = epochNamed("flood");
    const from_seq = 1 + 20_000 * (flooded % floods_max);
    const events = times(20_000, (index) => event(mine[index % mine.length], from_seq + index));
    const status = await post(enemy, "/batches", batch(epoch, from_seq, events));
    if (status === 200) flooded += 1;
    else if (status === 409) flooded = 0;
    return answers([200, 409, 422], [Promise.resolve(status)]);
  },
  "absurd stamps": async (enemy) => {
    const epoch = epochNamed("stamps");
    const ms = pick(enemy, [8.64e15, 8.64e15 + 1, -1, Date.UTC(2100, 0, 1), 1e300, 0.5]);
    return answers(refused, [
      post(enemy, "/batches", batch(epoch, 1, [{ ...event(mine[0], 1), stamp_ms: ms }])),
    ]);
  },
  "stamps that may be, from 1970 to 2099": async (enemy) => {
    const epoch = epochNamed(`times ${enemy.below(50)}`);
    const at = () => enemy.below(Date.UTC(2099, 0, 1) / 1000) * 1000;
    const events = times(2_000, (index) => ({ ...event(mine[index % 5], index), stamp_ms: at() }));
    return answers([200, 409, 422], [post(enemy, "/batches", batch(epoch, 1, events))]);
  },
  "reports as large as may be": async (enemy) => {
    const epoch = epochNamed("reports");
    const devices = times(10_000, () => ({ kind: "scales", address: address(enemy) }));
    const states = devices.map((_, device) => ({ device, first_ms: 1, heard_ms: 2 }));
    const listener = () => `listener ${enemy.below(1e9)}`;
    const listeners = times(100, () => ({ name: listener(), first_ms: 1, last_ms: 2 }));
    const outages = times(10_000, (start_ms) => ({
      listener: "zigbee",
      start_ms: start_ms + enemy.below(1e12),
      stop_ms: 2e12,
    }));
    const dropped = Object.fromEntries(times(10_000, (index) => [`name ${index}`, index]));
    const to_note = enemy.below(1e9);
    return answers(
      [200, 422],
      [
        json(enemy, "/report", reportOf(epoch, 1, { condition: { devices, states } })),
        json(enemy, "/report", reportOf(epoch, 1, { condition: { listeners } })),
        json(enemy, "/report", reportOf(epoch, 1, { condition: { outages, to_note } })),
        json(enemy, "/report", reportOf(epoch, 1, { report: { dropped } })),
      ],
    );
  },
  "comparisons as large as may be": async (enemy) => {
    const epoch = epochNamed("flood");
    const from_ms = 86_400_000 * enemy.below(47_000);
    const hash = "0123456789abcdef";
    const digests = times(20_000, (day) => ({
      series: "wirelesssensor_events",
      kind: "wirelesssensors",
      address: address(enemy),
      day,
      count: 1,
      hash,
    }));
    const verify = { epoch, through_seq: 1e9, from_ms, before_ms: from_ms + 31 * 86_400_000, digests };
    return answers([200, 422], [json(enemy, "/verify", verify)]);
  },
  "what expands": async (enemy) => {
    const zstd = { "content-encoding": "zstd" };
    return answers(
      [...refused, 400, 413],
      [
        post(enemy, "/batches", bomb),
        ask(enemy, "POST", "/report", bomb, "application/json", zstd),
        ask(enemy, "POST", "/verify", emptyLists, "application/json", zstd),
        ask(enemy, "PUT", "/backups", emptyLists, "application/json", zstd),
        post(enemy, "/batches", packed(`[${"[],".repeat(5e6)}[]]`)),
      ],
    );
  },
  "what is malformed": async (enemy) => {
    const noise = Uint8Array.from({ length: 1 + enemy.below(50_000) }, () => enemy.below(256));
    const good = pick(enemy, enemy.batches);
    const bent = good.slice();
    bent[enemy.below(bent.length)] = enemy.below(256);
    return answers(
      [...refused, 400, 404, 405, 409, 413, 415],
      [
        post(enemy, "/batches", noise),
        post(enemy, "/batches", good.slice(0, enemy.below(good.length))),
        post(enemy, "/batches", bent),
        ask(enemy, "POST", "/report", noise, "application/json"),
        ask(enemy, "POST", "/report", "[".repeat(1e6), "application/json"),
        ask(enemy, "POST", "/batches", noise, "text/plain"),
        ask(enemy, "GET", `/history?from=0&seq=-1&at=${"9".repeat(enemy.below(300))}`),
        ask(enemy, "GET", `/history?from=0&seq=1&at=${encodeURIComponent("a b; DROP TABLE items")}`),
        ask(enemy, "DELETE", "/batches"),
        ask(enemy, "GET", "/nothing"),
        ask(enemy, "GET", "/roster", undefined, undefined, { "lintel-home": "1" }),
      ],
    );
  },
  "files as large as may be": async (enemy) => {
    const content = Buffer.alloc(2 * 1024 * 1024, enemy.below(256)).toString("base64");
    const files = { [`file-${enemy.below(40)}`]: content };
    return answers([204, 422, 413], [json(enemy, "/backups", { files }, "PUT")]);
  },
  "what a home may read, again and again": async (enemy) =>
    answers(
      [200, 204, 304],
      [ask(enemy, "GET", "/history?from=0"), ask(enemy, "GET", "/roster"), ask(enemy, "GET", "/backups")],
    ),
  "bodies without end": async (enemy) => {
    const chunk = new Uint8Array(65_536);
    let sent = 0;
    const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => {
        sent += 1;
        if (sent > 2_000) controller.close();
        else controller.enqueue(chunk);
      },
    });
    return answers([0, 413], [ask(enemy, "POST", "/batches", endless, batchType)]);
  },
};

/** Answers of central, once all are there. */
async function answers(may: readonly number[], asked: readonly Promise<number>[]) {
  return { may: [...may, 429, 503], got: await Promise.all(asked) };
}

function post(
  enemy: Enemy,
  path: string,
  body: Uint8Array<ArrayBuffer>,
  more: Record<string, string> = {},
): Promise<number> {
  return ask(enemy, "POST", path, body, batchType, more);
}

function json(enemy: Enemy, path: string, said: unknown, method = "POST"): Promise<number> {
  const body = new Uint8Array(zstdCompressSync(JSON.stringify(said), level1));
  return ask(enemy, method, path, body, "application/json", { "content-encoding": "zstd" });
}

/** Asks once; the status of the answer, 0 where there was none. */
async function ask(
  { origin, token }: Enemy,
  method: string,
  path: string,
  body?: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array<ArrayBuffer>>,
  type?: string,
  more: Record<string, string> = {},
): Promise<number> {
  const headers = {
    authorization: `bearer ${token}`,
    ...(type === undefined ? {} : { "content-type": type }),
    ...more,
  };
  try {
    const answer = await fetch(`${origin}/sync/v1${path}`, {
      method,
      headers,
      body,
      signal: AbortSignal.timeout(answer_ms_max),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch (thrown) {
    return thrown instanceof DOMException && thrown.name === "TimeoutError" ? unanswered : 0;
  }
}

function batch(epoch: string, from_seq: number, events: readonly SensorEvent[]): Uint8Array<ArrayBuffer> {
  const to_seq = from_seq + events.length - 1;
  return batchBytes({ epoch, from_seq, to_seq, series: eventSeries(events, from_seq) });
}

function event(of: string | undefined, number: number): SensorEvent {
  return { address: of ?? "00:0d", stamp_ms: Date.UTC(2026, 10, 1) + number * 10, event: 1 };
}

function address({ below }: Enemy): string {
  return times(8, () => below(256).toString(16).padStart(2, "0")).join(":");
}

function pick<One>({ below }: Enemy, all: readonly One[]): One {
  return all[below(all.length)] as One;
}

function times<One>(count: number, make: (index: number) => One): One[] {
  return Array.from({ length: count }, (_, index) => make(index));
}

/** Sensors of the hostile home itself. */
const mine = times(20, (number) => `66:66:66:66:66:66:66:${number.toString(16).padStart(2, "0")}`);
const refused = [409, 422] as const;
const level1 = { params: { [constants.ZSTD_c_compressionLevel]: 1 } };
/** 1 GiB of zeros in some kilobytes, and 33 MB of empty lists, which would be a gigabyte of objects. */
const bomb = new Uint8Array(zstdCompressSync(new Uint8Array(2 ** 30), level1));
const emptyLists = new Uint8Array(zstdCompressSync(`[${"[],".repeat(1.1e7)}[]]`, level1));
/** Batches of a flood: two million readings, so that the disk of the machine is not what is tried. */
const floods_max = 100;
/** How many of them central has taken. */
let flooded = 0;
const answer_ms_max = 240_000;
/** In the place of a status: central took longer than it may. */
export const unanswered = -1;
