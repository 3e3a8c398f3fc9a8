import { statSync } from "node:fs";
import { join } from "node:path";
import { evenly } from "../stick/home.ts";
import type { MeasuredHome } from "./home.ts";

/** A time in which something is under way, by unix time in milliseconds. */
export type Span = readonly [from_ms: number, to_ms: number];

/** Work that a gateway has beside answering, and when it was under way. */
export interface Burden {
  readonly name: string;
  readonly spans: readonly Span[];
}

export const atRest = "at rest";

type Part = (home: MeasuredHome, seconds: number) => Promise<Burden[]>;

const resting: Part = async (_, seconds) => [
  { name: atRest, spans: [await during(() => Bun.sleep((seconds / 2) * 1000))] },
];

/** The parts of a round, one after the other: each does its work, and answers when it did what. A rest stands beside each, under the same load of the machine. */
export const burdens: readonly Part[] = [
  resting,
  async (home, seconds) => [await told(home, { per_s: 10, seconds, name: "everybody is up" })],
  resting,
  async (home, seconds) => [
    await told(home, { per_s: 350, seconds, name: "as many as a serial line of 115,200 baud carries" }),
  ],
  resting,
  async (home, seconds) => {
    const checkpoints = new Checkpoints(join(home.stick.site.data, "lintel.db"));
    const flood = await told(home, { per_s: 1_000, seconds, name: "as many as no home has" });
    return [
      flood,
      { name: "the log is written back into the database, in that flood", spans: checkpoints.end() },
    ];
  },
  resting,
  async (home) => {
    const central = await home.central();
    try {
      const first = await during(() => central.upload());
      const nights: Span[] = [];
      for (let night = 0; night < nights_each; night += 1) {
        await told(home, { per_s: 400, seconds: 5, name: "" });
        await Bun.sleep(rest_ms);
        nights.push(await during(() => central.upload()));
      }
      return [
        { name: "the first upload, of all readings", spans: [first] },
        { name: "an upload of a night's 2,000 readings", spans: nights },
      ];
    } finally {
      await central.close();
    }
  },
];

/** Notifications of all sensors in turn, at an even rate. */
async function told(
  { stick }: MeasuredHome,
  { per_s, seconds, name }: { per_s: number; seconds: number; name: string },
): Promise<Burden> {
  const span = await during(async () => {
    await evenly(per_s, per_s * seconds, (count) =>
      stick.sensors[count % stick.sensors.length]?.notify(count & 0xffff),
    );
    await stick.stick.drained();
  });
  return { name: `${per_s.toLocaleString("en")} notifications a second: ${name}`, spans: [span] };
}

/** When SQLite wrote the log of a database back, as the file shows, with what waits for the disk after it. */
class Checkpoints {
  readonly #spans: [from_ms: number, to_ms: number][] = [];
  readonly #timer;
  #changed_ms: number;

  constructor(path: string) {
    this.#changed_ms = statSync(path).mtimeMs;
    this.#timer = setInterval(() => this.#look(statSync(path).mtimeMs), look_ms);
  }

  end(): Span[] {
    clearInterval(this.#timer);
    return this.#spans;
  }

  #look(changed_ms: number): void {
    if (changed_ms === this.#changed_ms) return;
    this.#changed_ms = changed_ms;
    const last = this.#spans.at(-1);
    const to_ms = changed_ms + synchronising_ms;
    if (last !== undefined && changed_ms <= last[1]) last[1] = to_ms;
    else this.#spans.push([changed_ms - look_ms, to_ms]);
  }
}

async function during(work: () => Promise<unknown>): Promise<Span> {
  const from_ms = Date.now();
  await work();
  return [from_ms, Date.now()];
}

const look_ms = 5;
/** After the last write of a checkpoint, until it is on the disk. */
const synchronising_ms = 100;
const nights_each = 3;
/** After a flood, until what it leaves behind is done. */
const rest_ms = 1_000;
