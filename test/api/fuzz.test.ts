import { expect, test } from "bun:test";
import { Value } from "@sinclair/typebox/value";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { endpoints } from "../../src/api/endpoints.ts";
import { errorTable } from "../../src/api/errors.ts";
import { kindNames } from "../../src/kinds.ts";
import { ErrorRecord } from "../../src/records/error.ts";
import { append, now_ms, reading, type Serving, serve } from "./serving.ts";

const requests = 5000;
const atOnce = 16;
const seed = 20_261_120;

/** A number from 0 to below 1, the same sequence for the same seed (mulberry32). */
function sequence(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A request, and what it must be answered with by the order of docs/errors.md. */
interface Trial {
  readonly url: string;
  readonly method: string;
  readonly headers: Record<string, string>;
  readonly code: number | undefined;
  readonly endpoint: Endpoint | undefined;
}

class Generator {
  readonly #random: () => number;
  readonly #serving: Serving;
  readonly #names: Readonly<Record<string, string>>;

  constructor(serving: Serving, names: Readonly<Record<string, string>>) {
    this.#random = sequence(seed);
    this.#serving = serving;
    this.#names = names;
  }

  trial(): Trial {
    const path = this.#path();
    const query = this.#query(path.endpoint);
    const method = this.#pick(["GET", "GET", "GET", "GET", "HEAD", "POST", "DELETE", "OPTIONS", "PROPFIND"]);
    const token = this.#token();
    const accept = this.#accept();
    const order = [
      path.endpoint === undefined ? errorTable.path_unknown.code : undefined,
      method === "GET" || method === "HEAD" ? undefined : errorTable.method_not_allowed.code,
      token.code,
      accept.code,
      path.malformed ? errorTable.path_malformed.code : undefined,
      query.code,
      path.code,
    ];
    return {
      url: `${this.#serving.api.url}${path.text}${this.#chance(0.3) ? "/" : ""}${query.text}`,
      method,
      headers: { ...token.header, ...accept.header },
      code: order.find((code) => code !== undefined),
      endpoint: path.endpoint,
    };
  }

  #path(): { text: string; endpoint?: Endpoint; code?: number | undefined; malformed?: boolean } {
    if (this.#chance(0.1)) return { text: `/x${this.#garbage()}/${this.#garbage()}` };
    const endpoint = this.#pick(endpoints);
    const found = {
      kind: endpoint.template.split("/")[2] ?? "",
      code: undefined as number | undefined,
      malformed: false,
    };
    const text = endpoint.template.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (this.#chance(0.05)) {
        found.malformed = true;
        return this.#pick(["%zz", "%", "%ff", "a%E0%A4", "%C0%AF"]);
      }
      const known = this.#chance(0.8);
      if (name === "typename") {
        found.kind = known ? this.#pick(kindNames) : this.#garbage();
        found.code ??= known ? undefined : errorTable.typename_unknown.code;
        return found.kind;
      }
      const itemname = this.#names[found.kind];
      if (known && itemname !== undefined) return encodeURIComponent(itemname);
      found.code ??= errorTable.item_unknown.code;
      return `n${this.#garbage()}`;
    });
    return { text, endpoint, code: found.code, malformed: found.malformed };
  }

  #query(endpoint: Endpoint | undefined): { text: string; code?: number | undefined } {
    const parts: string[] = [];
    let code: number | undefined;
    for (const name of ["skip", "limit", "before", "through", "precision"]) {
      if (!this.#chance(0.3)) continue;
      const counts = endpoint !== undefined && Object.hasOwn(endpoint.query.properties, name);
      const good = this.#chance(0.85);
      const value = good
        ? this.#goodValue(name)
        : this.#pick([
            "",
            "-1",
            "1.5",
            "0x1",
            "1e2",
            "%zz",
            "%ff",
            "١",
            "9".repeat(17),
            "&x",
            `n${this.#garbage()}`,
          ]);
      const twice = this.#chance(0.03);
      parts.push(`${name}=${value}`);
      if (twice) parts.push(`${name}=${this.#goodValue(name)}`);
      if (!counts || code !== undefined) continue;
      if (twice) code = errorTable.parameter_repeated.code;
      else if (!good) code = errorTable.parameter_malformed.code;
    }
    // Before the known parameters, so that their order, in which faults are found, stays.
    if (this.#chance(0.2)) parts.unshift(`u${this.#garbage()}=${this.#garbage()}`);
    if (this.#chance(0.1)) parts.push("", "=", "%zz=1");
    return { text: parts.length === 0 ? "" : `?${parts.join("&")}`, code };
  }

  #goodValue(name: string): string {
    const at_s = Math.floor(now_ms / 1000);
    if (name === "limit") return String(1 + Math.floor(this.#random() * 1000));
    if (name === "precision") return this.#pick(["s", "ms"]);
    if (name === "before") return this.#pick(["0", String(at_s), String(at_s + 1), "253402300799"]);
    return this.#pick(["0", "1", "7", "1000000000000", "0012"]);
  }

  #token(): { header: Record<string, string>; code?: number | undefined } {
    const { read, admin, sync, expired } = this.#serving.tokens;
    const scheme = this.#pick(["bearer", "Bearer", "BEARER"]);
    const of = (token: string, code?: number) => ({ header: { Authorization: `${scheme} ${token}` }, code });
    if (this.#chance(0.75)) return of(this.#pick([read, admin]));
    return this.#pick([
      { header: {}, code: errorTable.token_missing.code },
      of(sync, errorTable.token_scope.code),
      of(expired, errorTable.token_expired.code),
      of(read.slice(0, -1), errorTable.token_invalid.code),
      of(encodeURIComponent(this.#garbage()), errorTable.token_invalid.code),
      { header: { Authorization: `Basic ${read}` }, code: errorTable.token_invalid.code },
    ]);
  }

  #accept(): { header: Record<string, string>; code?: number } {
    if (this.#chance(0.85))
      return {
        header: {
          Accept: this.#pick(["application/json", "text/html, application/json;q=0.1", "APPLICATION/json"]),
        },
      };
    const header = {
      Accept: this.#pick(["*/*", "text/html", "application/json;q=0", "application/*", '"', ";,;"]),
    };
    return { header, code: errorTable.accept_unsuitable.code };
  }

  /** Characters of every kind, encoded as a path or query needs. */
  #garbage(): string {
    const characters = Array.from({ length: 1 + Math.floor(this.#random() * 8) }, () => {
      const range = this.#pick([
        [0x20, 0x7e],
        [0x61, 0x7a],
        [0, 0x1f],
        [0xa0, 0x2ff],
        [0x1f600, 0x1f64f],
      ] as const);
      return String.fromCodePoint(range[0] + Math.floor(this.#random() * (range[1] - range[0])));
    });
    return encodeURIComponent(characters.join(""));
  }

  #pick<Choice>(choices: readonly Choice[]): Choice {
    return choices[Math.floor(this.#random() * choices.length)] as Choice;
  }

  #chance(probability: number): boolean {
    return this.#random() < probability;
  }
}

async function faultsOf(trial: Trial): Promise<string[]> {
  const response = await fetch(trial.url, { method: trial.method, headers: trial.headers });
  const text = await response.text();
  const status = trial.code === undefined ? 200 : Math.floor(trial.code / 100);
  const faults: string[] = [];
  if (response.status !== status) faults.push(`status ${response.status}, not ${status}`);
  if (response.headers.get("Content-Type") !== "application/json") faults.push("not JSON");
  if (trial.method === "HEAD") return text === "" ? faults : [...faults, "a body to HEAD"];
  const body = JSON.parse(text);
  if (trial.code === undefined) {
    if (!Value.Check(trial.endpoint?.response ?? ErrorRecord, body)) faults.push("not of its schema");
  } else if (!Value.Check(ErrorRecord, body) || body.code !== trial.code)
    faults.push(`${text}, not code ${trial.code}`);
  return faults;
}

test(`${requests} random requests are each answered as the order of checks and the schemas say`, async () => {
  await using serving = await serve({ attempts_max: requests });
  const names: Record<string, string> = {};
  for (const [index, kind] of (["pillboxes", "wirelesssensors", "scales", "watches"] as const).entries()) {
    const device = { kind, address: `00:0d:6f:00:09:0${index}` };
    const values = {
      pillboxes: { event: 1 },
      wirelesssensors: { event: 1 },
      scales: { heartRate: 60 },
      watches: { duration: 60, distance: 1.5, steps: 2, walkState: 1, runState: 1, sleepState: 1 },
    }[kind];
    const series = {
      pillboxes: "pillbox_events",
      wirelesssensors: "wirelesssensor_events",
      scales: "scale_heart",
      watches: "watch_epochs",
    } as const;
    const readings = Array.from({ length: 40 }, (_, back) =>
      reading(device, series[kind], now_ms - back * 300, values),
    );
    names[kind] = (await append(serving.store, readings))[0] ?? "";
  }
  const generator = new Generator(serving, names);
  const trials = Array.from({ length: requests }, () => generator.trial());
  const wrong: string[] = [];
  const queue = trials.entries();
  const work = async () => {
    for (const [index, trial] of queue) {
      const faults = await faultsOf(trial);
      if (faults.length > 0)
        wrong.push(
          `${index}: ${trial.method} ${trial.url} ${JSON.stringify(trial.headers)}: ${faults.join("; ")}`,
        );
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  expect(wrong.slice(0, 5)).toEqual([]);
  // A line for each failure and no other; and the trials held each error many times, and successes as often.
  const counts = new Map<number | undefined, number>();
  for (const { code } of trials) counts.set(code, (counts.get(code) ?? 0) + 1);
  const successes = counts.get(undefined) ?? 0;
  expect(serving.lines).toHaveLength(requests - successes);
  expect(successes).toBeGreaterThan(requests / 10);
  const codes = [...counts.keys()].filter((code) => code !== undefined).sort((one, other) => one - other);
  expect(codes).toEqual([40002, 40101, 40102, 40103, 40104, 40401, 40402, 40403, 40501, 42201, 42202, 42203]);
  expect(Math.min(...counts.values())).toBeGreaterThan(10);
}, 60_000);
