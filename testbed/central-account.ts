import { createHash } from "node:crypto";

/** The tokens that a central is asked with: of every scope, and the sync token of each home. */
export interface AccountTokens {
  readonly read: string;
  /** Bound to a part of the programme. */
  readonly bound: string;
  readonly admin: string;
  readonly homes: Readonly<Record<number, string>>;
}

/**
 * All that a central serves, request by request: every page of every path that its OpenAPI document names, walked by the links in pages of `limit`, newest
 * first and in the order of arrival, for a token that sees all and for one that is bound; and what it tells the gateway of each home: records, files,
 * readings for a restored box, and digests of its days. Each answer is its status, its ETag, its link, and its body or a hash of that.
 * @param options.restored of these homes the readings for a restored box are asked for; absent: of all
 * @param options.forms how a series is asked for besides
 */
export async function accountOf(
  origin: string,
  tokens: AccountTokens,
  options: AccountOptions = {},
): Promise<Map<string, string>> {
  const account = new Account(origin, options);
  for (const [name, token] of [
    ["read", tokens.read],
    ["bound", tokens.bound],
  ] as const)
    await account.interface(name, token);
  const fleet = await account.fleet(tokens.admin);
  await atOnce(Object.entries(tokens.homes), ([home, token]) =>
    account.home(
      home,
      token,
      fleet.filter(({ homeid }) => homeid === Number(home)),
    ),
  );
  return account.answers;
}

/** Does something with each, some at once. */
async function atOnce<One>(all: readonly One[], work: (one: One) => Promise<unknown>): Promise<void> {
  let next = 0;
  const line = async () => {
    while (next < all.length) {
      next += 1;
      await work(all[next - 1] as One);
    }
  };
  await Promise.all(Array.from({ length: lines }, line));
}

/** The requests whose answers differ in two accounts, at most ten. */
export function differences(one: Map<string, string>, other: Map<string, string>): string[] {
  const requests = [...new Set([...one.keys(), ...other.keys()])];
  return requests
    .filter((request) => one.get(request) !== other.get(request))
    .slice(0, 10)
    .map((request) => `${request}\n  ${one.get(request)}\n  ${other.get(request)}`);
}

export interface AccountOptions {
  readonly limit?: number;
  readonly restored?: readonly number[];
  readonly forms?: readonly string[];
}

class Account {
  readonly answers = new Map<string, string>();
  readonly #origin: string;
  readonly #options: AccountOptions;

  constructor(origin: string, options: AccountOptions) {
    this.#origin = origin;
    this.#options = options;
  }

  async interface(name: string, token: string): Promise<void> {
    const version = `${this.#origin}/v0.9`;
    const { paths, components } = (await (await fetch(`${version}/openapi.json`)).json()) as Contract;
    const known = new Known((path) => this.#walk(name, `${version}${path}`, token));
    const walks: string[] = [];
    for (const [template, { get }] of Object.entries(paths)) {
      const parameters = (get.parameters ?? []).map((parameter) =>
        "$ref" in parameter
          ? components.parameters[parameter.$ref.replace("#/components/parameters/", "")]
          : parameter,
      );
      const asked = parameters.map((parameter) => parameter?.name);
      const query = asked.includes("limit") ? `?limit=${this.#options.limit ?? 1000}` : "";
      const forms = asked.includes("since") ? (this.#options.forms ?? ["&precision=ms", "&since="]) : [];
      for (const path of await known.pathsOf(template))
        for (const form of ["", ...forms]) walks.push(`${version}${path}${query}${form}`);
    }
    await atOnce(walks, (from) => this.#walk(name, from, token));
  }

  async fleet(token: string): Promise<{ homeid: number; epoch: string }[]> {
    const response = await this.#ask("admin", `${this.#origin}/sync/v1/fleet`, token);
    return response.status === 200 ? JSON.parse(response.body) : [];
  }

  async home(home: string, token: string, epochs: readonly { epoch: string }[]): Promise<void> {
    const sync = `${this.#origin}/sync/v1`;
    for (const path of ["roster", "backups"]) await this.#ask(home, `${sync}/${path}`, token);
    let query = "from=0";
    const restored = this.#options.restored?.includes(Number(home)) ?? true;
    for (let position: string | null = restored ? "" : null; position !== null; ) {
      const { headers } = await this.#ask(home, `${sync}/history?${query}`, token);
      position = headers.get("Lintel-Position");
      const [seq, at] = position?.split(/ (.*)/) ?? [];
      query = `from=0&${new URLSearchParams({ seq: seq ?? "", at: at ?? "" })}`;
    }
    // Whatever a gateway has on these days differs from nothing: so central tells all of its own digests.
    for (const { epoch } of epochs)
      for (let day = first_day; day < end_day; day += verify_days) {
        const [from_ms, before_ms] = [day * day_ms, (day + verify_days) * day_ms];
        const body = { epoch, through_seq: seq_max, from_ms, before_ms, digests: [] };
        await this.#ask(home, `${sync}/verify`, token, JSON.stringify(body), String(day));
      }
  }

  /** Follows the links from an address on, and answers the records. */
  async #walk(name: string, from: string, token: string): Promise<unknown[]> {
    const records: unknown[] = [];
    for (let url: string | undefined = from; url !== undefined; ) {
      const { status, headers, body } = await this.#ask(name, url, token);
      if (status === 200) records.push(...[JSON.parse(body)].flat());
      url = /<([^>]*)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1];
    }
    return records;
  }

  async #ask(name: string, url: string, token: string, body?: string, more = "") {
    const request = `${name} ${url.replace(this.#origin, "")} ${more}`;
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: { authorization: `bearer ${token}`, accept: "application/json" },
      ...(body === undefined
        ? {}
        : { body, headers: { authorization: `bearer ${token}`, "content-type": "application/json" } }),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const text = new TextDecoder().decode(bytes);
    const link = response.headers.get("Link")?.replace(this.#origin, "");
    const shown =
      bytes.length < shown_bytes
        ? text
        : `${createHash("sha256").update(bytes).digest("hex")} ${bytes.length}`;
    this.answers.set(request, [response.status, response.headers.get("ETag"), link, shown].join(" | "));
    return { status: response.status, headers: response.headers, body: text };
  }
}

/** Values for the placeholders of a path, as the central tells them. */
class Known {
  readonly #records: (path: string) => Promise<unknown[]>;
  readonly #lists = new Map<string, Promise<unknown[]>>();

  constructor(records: (path: string) => Promise<unknown[]>) {
    this.#records = records;
  }

  async pathsOf(template: string): Promise<string[]> {
    if (template.includes("{typename}")) {
      const paths: string[] = [];
      for (const kind of kinds) paths.push(...(await this.pathsOf(template.replace("{typename}", kind))));
      return paths;
    }
    const [, type = "", placeholder] = /^\/(?:items\/|inventory\/)?(\w+)\/?(\{\w+\})?/.exec(template) ?? [];
    if (placeholder === "{itemname}") {
      const names = await this.#list(`/inventory/${type}`);
      return names.map((item) => template.replace(placeholder, encodeURIComponent((item as Item).itemname)));
    }
    if (placeholder === "{id}") {
      const records = await this.#list(`/${type}/`);
      return records.map((record) =>
        template.replace(placeholder, String(Object.values(record as object)[0])),
      );
    }
    return [template];
  }

  #list(path: string): Promise<unknown[]> {
    const known = this.#lists.get(path) ?? this.#records(path);
    this.#lists.set(path, known);
    return known;
  }
}

interface Contract {
  readonly paths: Readonly<Record<string, { get: { parameters?: (Parameter | { $ref: string })[] } }>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}
type Parameter = { readonly name: string };
type Item = { readonly itemname: string };
const kinds = ["pillboxes", "wirelesssensors", "scales", "watches", "gateways"];
const day_ms = 86_400_000;
const verify_days = 31;
/** Requests at once: some fewer than central takes of sync. */
const lines = 4;
const seq_max = 1_000_000_000_000;
/** 2026 and the year after: readings of tests are of these. */
const first_day = Date.UTC(2026, 0, 1) / day_ms;
const end_day = first_day + 2 * 365;
const shown_bytes = 400;
