import type { TSchema } from "@sinclair/typebox";
import { kindNames } from "../../../../src/domain/kinds.ts";
import { type Contract, contractOf } from "../../../../src/web/api/contract/openapi.ts";
import type { Endpoint } from "../../../../src/web/api/endpoint.ts";
import { endpoints } from "../../../../src/web/api/endpoints.ts";
import { type ApiVersion, newestVersion, versions, versionsOf } from "../../../../src/web/api/versions.ts";
import { errorTable } from "../../../../src/web/server/http-errors.ts";
import type { Known } from "../../../../testbed/programme.ts";
import { ContractCheck } from "./contract-check.ts";

/** A request, and what it must be answered with by the order of docs/errors.md. */
export interface Trial {
  readonly version: ApiVersion;
  /** Below the version. */
  readonly path: string;
  readonly query: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Undefined for a success. */
  readonly code: number | undefined;
}

/** Makes requests of every kind to every version, right and wrong, the same ones for the same seed. */
export class Trials {
  readonly #random: () => number;
  readonly #known: Known;

  constructor(options: { seed: number; known: Known }) {
    this.#random = sequence(options.seed);
    this.#known = options.known;
  }

  next(): Trial {
    // The newest has most to try.
    const version = this.#chance(0.3) ? newestVersion : this.#pick(versions);
    const path = this.#path(version);
    const query = this.#query(path.endpoint);
    const method = this.#chance(0.75)
      ? "GET"
      : this.#pick(["HEAD", "HEAD", "POST", "DELETE", "OPTIONS", "PROPFIND"]);
    const token = this.#token();
    const accept = this.#accept();
    const coding = this.#coding();
    const order = [
      path.endpoint === undefined ? errorTable.path_unknown.code : undefined,
      method === "GET" || method === "HEAD" ? undefined : errorTable.method_not_allowed.code,
      token.code,
      accept.code,
      coding.code,
      path.malformed,
      query.code,
      path.code,
    ];
    return {
      version,
      path: `${path.text}${this.#chance(0.3) && !path.text.endsWith("/") ? "/" : ""}`,
      query: query.text,
      method,
      headers: {
        ...token.header,
        ...accept.header,
        ...coding.header,
        ...(this.#chance(0.05) ? { "If-None-Match": this.#pick(["*", '"x"', 'W/"0"', ","]) } : {}),
      },
      code: order.find((code) => code !== undefined),
    };
  }

  #path(version: ApiVersion): DrawnPath {
    if (this.#chance(0.08)) return { text: `/x${this.#garbage()}/${this.#garbage()}` };
    // Most of the time an endpoint of the version, sometimes one that only another version may have.
    const from = this.#chance(0.9) ? version : this.#pick(versions);
    const { template } = this.#pick(forms.get(from) ?? []);
    const endpoint = forms.get(version)?.find((form) => form.template === template);
    const drawn: DrawnPath = { text: "", ...(endpoint === undefined ? {} : { endpoint }) };
    let kind = template.split("/")[2] ?? "";
    const text = template.replace(/\{(\w+)\}/g, (_, name: string) => {
      if (this.#chance(0.05) && drawn.malformed === undefined) {
        const id = name === "id";
        drawn.malformed = id ? errorTable.parameter_malformed.code : errorTable.path_malformed.code;
        return this.#pick(
          id ? ["one", "1.5", "1e3", "0x1", "9".repeat(17), "%C3%BC"] : ["%zz", "%", "%ff", "%C0%AF"],
        );
      }
      const known = this.#chance(0.8);
      if (name === "id") return this.#id(template.split("/")[1] ?? "", known, drawn);
      if (name === "typename") {
        // A name of dots alone would be a step in the path, not a name.
        kind = known ? this.#pick(kindNames) : `t${this.#garbage()}`;
        drawn.code ??= known ? undefined : errorTable.typename_unknown.code;
        return kind;
      }
      const itemnames = this.#known.itemnames[kind] ?? [];
      if (known && itemnames.length > 0) return encodeURIComponent(this.#pick(itemnames));
      drawn.code ??= errorTable.item_unknown.code;
      return `n${this.#garbage()}`;
    });
    return { ...drawn, text };
  }

  #id(type: string, known: boolean, drawn: DrawnPath): string {
    const ids = this.#known.ids[type] ?? [];
    if (known && ids.length > 0) return String(this.#pick(ids));
    drawn.code ??= errorTable.record_unknown.code;
    return this.#pick(["999999", "-1", "9007199254740991", "0"]);
  }

  #query(endpoint: Endpoint | undefined): { text: string; code?: number | undefined } {
    const parts: string[] = [];
    let code: number | undefined;
    let unknown = false;
    const parameters = endpoint?.query.properties ?? {};
    // Mostly those that it has.
    const names = parameterNames.filter((name) => Object.hasOwn(parameters, name) || this.#chance(0.2));
    const drawn = names.filter(() => this.#chance(0.3));
    const excluded = ["skip", "before", "after", "through"].some((name) => drawn.includes(name));
    for (const name of drawn) {
      const schema: TSchema | undefined = parameters[name];
      const good = this.#chance(0.85);
      const value = good ? this.#goodValue(name, schema) : this.#badValue(name);
      const twice = this.#chance(0.03);
      parts.push(`${name}=${value}`);
      if (twice) parts.push(`${name}=${this.#goodValue(name, schema)}`);
      unknown ||= schema === undefined;
      if (schema === undefined || code !== undefined) continue;
      if (twice) code = errorTable.parameter_repeated.code;
      else if (!good) code = errorTable.parameter_malformed.code;
      else if (name === "since" && excluded) code = errorTable.parameters_exclusive.code;
    }
    // An unknown parameter is ignored below 0.9, wherever it stands.
    if (this.#chance(0.1)) unknown = parts.unshift(`u${this.#garbage()}=${this.#garbage()}`) > 0;
    if (this.#chance(0.05)) unknown = parts.push("", "=", "%zz=1") > 0;
    if (unknown && endpoint?.query.additionalProperties === false) code ??= errorTable.parameter_unknown.code;
    // The parameters are checked in the order in which the endpoint has them, and those that it has not come last.
    return { text: parts.length === 0 ? "" : `?${parts.join("&")}`, code };
  }

  #goodValue(name: string, schema: TSchema | undefined): string {
    const at_s = Math.floor(this.#known.now_ms / 1000);
    if (name === "limit") return String(1 + Math.floor(this.#random() * 1000));
    if (name === "precision") return this.#pick(["s", "ms"]);
    if (name === "since") return this.#pick(["", "@0", `@${at_s - 4_000_000}`, `@0/${at_s}`]);
    if (name !== "before" && name !== "after") return this.#pick(["0", "1", "7", "1000000000000", "0012"]);
    const time = this.#pick([0, at_s - 5, at_s, at_s + 1, 253_402_300_799]);
    if (schema?.["format"] !== "date-time") return String(time);
    return encodeURIComponent(new Date(time * 1000).toISOString().replace(".000Z", "Z"));
  }

  #badValue(name: string): string {
    const values = ["-1", "1.5", "0x1", "1e2", "%zz", "%ff", "١", "9".repeat(17), `n${this.#garbage()}`];
    // Without a value; only one parameter takes that.
    if (name !== "since") values.push("", "&x");
    if (name === "before" || name === "after")
      values.push("2026-02-30T00:00:00Z", "2026-11-20", "2026-11-20T12:00:00");
    return this.#pick(values);
  }

  #token(): { header: Record<string, string>; code?: number | undefined } {
    const { read, admin, sync, expired } = this.#known.tokens;
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
    if (this.#chance(0.85)) {
      const good = ["application/json", "text/html, application/json;q=0.1", "APPLICATION/json"];
      return { header: { Accept: this.#pick(good) } };
    }
    const bad = ["*/*", "text/html", "application/json;q=0", "application/*", '"', ";,;"];
    return { header: { Accept: this.#pick(bad) }, code: errorTable.accept_unsuitable.code };
  }

  #coding(): { header: Record<string, string>; code?: number } {
    if (this.#chance(0.02)) {
      const bad = ["identity;q=0", "br, *;q=0", "*;q=0"];
      return { header: { "Accept-Encoding": this.#pick(bad) }, code: errorTable.coding_unsuitable.code };
    }
    const good = ["identity", "gzip", "zstd", "gzip;q=0.5, zstd", "br", "*", "gzip;q=2", ","];
    return { header: this.#chance(0.5) ? {} : { "Accept-Encoding": this.#pick(good) } };
  }

  /** Characters of every kind, encoded as a path or query needs. */
  #garbage(): string {
    const characters = Array.from({ length: 1 + Math.floor(this.#random() * 8) }, () => {
      const [first, last] = this.#pick([
        [0x20, 0x7e],
        [0x61, 0x7a],
        [0, 0x1f],
        [0xa0, 0x2ff],
        [0x1f600, 0x1f64f],
      ] as const);
      return String.fromCodePoint(first + Math.floor(this.#random() * (last - first)));
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

/** Sends a trial and answers what is wrong with what comes back. @param origin scheme, host and port */
export async function faultsOf(
  trial: Trial,
  origin: string,
): Promise<{ status: number; faults: readonly string[] }> {
  const { version, path, query, method, headers, code } = trial;
  const response = await fetch(`${origin}/v${version}${path}${query}`, { method, headers });
  const text = await response.text();
  const { status } = response;
  const expected =
    code === undefined ? [200, ...("If-None-Match" in headers ? [304] : [])] : [Math.floor(code / 100)];
  const faults = expected.includes(status) ? [] : [`status ${status}, not ${expected}`];
  const body: unknown = text === "" ? undefined : JSON.parse(text);
  if (method !== "HEAD" && code !== undefined && (body as { code?: number })?.code !== code)
    faults.push(`${text.slice(0, 200)}, not code ${code}`);
  const check = checks.get(version);
  if (check === undefined) throw new Error(`there is no contract of version ${version}`);
  faults.push(...check.faultsOf({ method, path, status, headers: response.headers, body }));
  return { status, faults };
}

/** A trial in one line, without its token. */
export function trialText({ version, path, query, method, headers }: Trial): string {
  const { Authorization, ...others } = headers;
  const token = Authorization === undefined ? "no token" : `${Authorization.split(" ")[0]} …`;
  return `${method} /v${version}${path}${query} ${token} ${JSON.stringify(others)}`;
}

/** Parameters of all versions, in the order in which endpoints have them. */
const parameterNames = ["skip", "limit", "before", "after", "since", "through", "precision"];

interface DrawnPath {
  text: string;
  endpoint?: Endpoint;
  /** Of a segment that cannot be understood, and of a record that does not exist. */
  malformed?: number;
  code?: number | undefined;
}

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

const forms = versionsOf(endpoints);

const checks = new Map(
  [...forms].map(([version, of]): [ApiVersion, ContractCheck] => {
    // As a client gets it.
    const contract: Contract = JSON.parse(JSON.stringify(contractOf(version, of)));
    return [version, new ContractCheck(contract)];
  }),
);
