import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { ContractCheck } from "../../../scripts/trial-programs/with-source/requests/contract-check.ts";
import { type Contract, contractOf } from "../../../src/web/api/contract/openapi.ts";
import { endpoints } from "../../../src/web/api/endpoints.ts";
import { type ApiVersion, versions, versionsOf } from "../../../src/web/api/versions.ts";
import { fill } from "../../../testbed/programme.ts";
import { type Serving, serve } from "../../../testbed/serving.ts";
import { goldenContracts, renewGoldenContracts } from "./golden-contracts.ts";

/** Writes the contracts anew instead of comparing them: `RENEW_CONTRACTS=1 ./scripts/test test/web/api/contract.test.ts`. */
const renew = process.env["RENEW_CONTRACTS"] === "1";

let serving: Serving;
let agreed: ReadonlyMap<ApiVersion, Contract>;
beforeAll(async () => {
  // Each measure of a home is a dear request, and this asks for many in a minute.
  serving = await serve({ scale: "central" });
  await fill(serving.store);
  if (renew) {
    const contracts = await Promise.all(
      versions.map(async (version) => [version, await served(version)] as const),
    );
    renewGoldenContracts(new Map(contracts));
  }
  agreed = goldenContracts();
});
afterAll(() => serving[Symbol.asyncDispose]());

async function served(version: ApiVersion): Promise<Contract> {
  const response = await fetch(new URL(`/v${version}/openapi.json`, serving.api.url));
  expect([response.status, response.headers.get("Content-Type")]).toEqual([200, "application/json"]);
  return (await response.json()) as Contract;
}

describe.each(versions)("the contract of version %s", (version) => {
  test("is the one that was agreed on", async () => {
    expect(await served(version)).toEqual(agreed.get(version) as Contract);
  });

  test("is OpenAPI 3.1", async () => {
    const document: unknown = await served(version);
    const { valid, errors } = await new Validator().validate(document as Specification);
    expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  });

  test("is as linters of documents want it", async () => {
    const { info, paths, components } = await served(version);
    expect(info.license).toEqual({ name: "MIT", identifier: "MIT" });
    for (const [path, { get }] of Object.entries(paths)) {
      expect(path).not.toEndWith("/");
      expect(get.description).toMatch(/^Answers (a list of the|one) record "[^"]+"\.$/);
    }
    expect(components.schemas).not.toBeEmpty();
  });

  test("has an example of every record, with every field in order, that is one", async () => {
    const contract = await served(version);
    const check = new ContractCheck(contract);
    for (const [name, schema] of Object.entries(contract.components.schemas)) {
      const [example] = schema["examples"] as [object];
      expect([name, Object.keys(example)]).toEqual([name, Object.keys(schema["properties"] as object)]);
      expect([name, check.faultsOfRecord(name, example)]).toEqual([name, []]);
    }
  });

  test("is served to anyone, whatever they accept, and to no other method than GET and HEAD", async () => {
    for (const path of ["openapi.json", "openapi.json/", "docs", "docs/"]) {
      const url = new URL(`/v${version}/${path}`, serving.api.url);
      expect((await fetch(url, { headers: { Accept: "image/png" } })).status).toBe(200);
      expect((await fetch(url, { method: "HEAD" })).status).toBe(200);
      const post = await fetch(url, { method: "POST" });
      expect([post.status, post.headers.get("Allow")]).toEqual([405, "GET, HEAD"]);
    }
  });

  test("every documented request is answered as documented", async () => {
    const contract = await served(version);
    const client = await Client.of(version, contract);
    for (const [template, { get }] of Object.entries(contract.paths)) {
      const addresses = client.addressesOf(template);
      expect([template, addresses.length > 0]).toEqual([template, true]);
      const queries = ["", ...get.parameters.flatMap((parameter) => client.queriesOf(parameter))];
      for (const address of addresses)
        for (const query of queries) await client.expectStatus(`${address}${query}`, 200);
      for (const query of get.parameters.flatMap((parameter) => client.wrongQueriesOf(parameter)))
        await client.expectStatus(`${addresses[0]}${query}`, 422);
      for (const address of client.unknownAddressesOf(template)) await client.expectStatus(address, 404);
      if (template.includes("{id}")) await client.expectStatus(template.replace("{id}", "one"), 422);
      if (template.includes("{typename}") || template.includes("{itemname}"))
        await client.expectStatus(template.replace(/\{\w+\}/g, "%zz"), 422);
      const address = addresses[0] ?? "";
      await client.expectStatus(address, 401, { Authorization: "" });
      await client.expectStatus(address, 401, { Authorization: `bearer ${serving.tokens.expired}` });
      await client.expectStatus(address, 400, { Accept: "*/*" });
      await client.expectStatus(address, 200, { "Accept-Encoding": "zstd" });
      if ("304" in get.responses) {
        const etag = (await client.ask(address)).headers.get("ETag");
        if (etag !== null) await client.expectStatus(address, 304, { "If-None-Match": etag });
      }
    }
  });
});

test("an endpoint that a version did not have is not there", async () => {
  const known = versionsOf(endpoints);
  for (const version of versions)
    for (const other of versions)
      for (const { template } of known.get(other) ?? []) {
        const exists = known.get(version)?.some((endpoint) => endpoint.template === template);
        const path = template.replace(/\{id\}/, "1").replace(/\{\w+\}/g, "x");
        const response = await fetch(new URL(`/v${version}${path}`, serving.api.url), {
          headers: { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" },
        });
        const { code } = (response.status === 200 ? {} : await response.json()) as { code?: number };
        expect([version, template, code === 40401]).toEqual([version, template, !exists]);
      }
});

test("contracts differ only where versions do", () => {
  const texts = [...versionsOf(endpoints)].map(([version, forms]) =>
    JSON.stringify(contractOf(version, forms)).replaceAll(version, "0.x"),
  );
  const [v01, v02, v03, v04, v05, v06, v07, v08, v09] = texts;
  expect(v05).toBe(v06 as string);
  expect(new Set([v01, v02, v03, v04, v05, v07, v08, v09]).size).toBe(8);
});

type Specification = Parameters<Validator["validate"]>[0];

/** A client that finds its way by the contract alone, and holds every answer to it. */
class Client {
  readonly #base: string;
  readonly #contract: Contract;
  readonly #check: ContractCheck;
  #types: string[] = [];
  #items: { typename: string; itemname: string }[] = [];
  #ids = new Map<string, number[]>();

  private constructor(version: ApiVersion, contract: Contract) {
    this.#base = new URL(`/v${version}`, serving.api.url).href;
    this.#contract = contract;
    this.#check = new ContractCheck(contract);
  }

  static async of(version: ApiVersion, contract: Contract): Promise<Client> {
    const client = new Client(version, contract);
    const paths = Object.keys(contract.paths);
    const types = await client.list(paths.find((path) => /^\/\w+$/.test(path)) ?? "");
    client.#types = types.map(({ typename }) => String(typename));
    for (const typename of client.#types)
      for (const { itemname } of await client.list(`/inventory/${typename}`))
        client.#items.push({ typename, itemname: String(itemname) });
    for (const path of paths.filter((path) => paths.includes(`${path}/{id}`))) {
      const records = await client.list(path);
      client.#ids.set(
        path,
        records.map((record) => Number(Object.values(record)[0])),
      );
    }
    return client;
  }

  async list(path: string): Promise<Record<string, unknown>[]> {
    return (await (await this.ask(path)).json()) as Record<string, unknown>[];
  }

  ask(address: string, headers: Record<string, string> = {}): Promise<Response> {
    const usual = { Authorization: `bearer ${serving.tokens.read}`, Accept: "application/json" };
    const all = Object.entries({ ...usual, ...headers }).filter(([, value]) => value !== "");
    return fetch(`${this.#base}${address}`, { headers: Object.fromEntries(all) });
  }

  async expectStatus(address: string, status: number, headers: Record<string, string> = {}): Promise<void> {
    const response = await this.ask(address, headers);
    const text = await response.text();
    const received = {
      method: "GET",
      path: address.split("?")[0] ?? "",
      status: response.status,
      headers: response.headers,
      body: text === "" ? undefined : JSON.parse(text),
    };
    expect([address, response.status, this.#check.faultsOf(received)]).toEqual([address, status, []]);
  }

  /** Every record that the template could mean. */
  addressesOf(template: string): string[] {
    if (template.includes("{id}"))
      return (this.#ids.get(`/${template.split("/")[1]}`) ?? []).map((id) =>
        template.replace("{id}", String(id)),
      );
    if (/^\/\w+\/\{typename\}$/.test(template))
      return this.#types.map((name) => template.replace("{typename}", name));
    if (!template.includes("{itemname}")) return [template];
    const kind = template.split("/")[2] ?? "";
    return this.#items
      .filter(({ typename }) => kind === "{typename}" || kind === typename)
      .map(({ typename, itemname }) =>
        template.replace("{typename}", typename).replace("{itemname}", encodeURIComponent(itemname)),
      );
  }

  unknownAddressesOf(template: string): string[] {
    if (template.includes("{id}")) return [template.replace("{id}", "999"), template.replace("{id}", "-1")];
    return template.includes("{") ? [template.replace(/\{\w+\}/g, "nobody")] : [];
  }

  queriesOf(parameter: object): string[] {
    const { name, place, schema } = this.#parameter(parameter);
    if (place !== "query") return [];
    const { minimum, maximum, anyOf = [], format, pattern } = schema;
    const values = [minimum, maximum, ...anyOf.map((choice) => choice.const), schema.default];
    if (format === "date-time")
      values.push("2026-11-20T11:59:59Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z");
    else if (pattern !== undefined)
      values.push(...patterned.filter((text) => new RegExp(pattern).test(text)));
    return values.filter((value) => value !== undefined).map((value) => `?${name}=${value}`);
  }

  wrongQueriesOf(parameter: object): string[] {
    const { name, place, schema } = this.#parameter(parameter);
    if (place !== "query") return [];
    const { minimum, maximum, format, pattern } = schema;
    const wrong = ["", "x", "%zz", "1e3"];
    const values: unknown[] =
      pattern === undefined ? wrong : wrong.filter((text) => !new RegExp(pattern).test(text));
    if (minimum !== undefined) values.push(minimum - 1);
    // The number after the greatest safe one may be the same number.
    if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) values.push(maximum + 1);
    if (format === "date-time")
      values.push("1500000000", "2026-02-30T00:00:00Z", "2026-11-20T24:00:01Z", "2026-11-20");
    return values.map((value) => `?${name}=${value}`);
  }

  #parameter(parameter: object): { name: string; place: string; schema: ParameterSchema } {
    const { $ref: reference } = parameter as { $ref?: string };
    const whole =
      reference === undefined
        ? parameter
        : this.#contract.components.parameters[reference.split("/").at(-1) ?? ""];
    const { name, in: place, schema } = whole as { name: string; in: string; schema: ParameterSchema };
    return { name, place, schema };
  }
}

/** Texts of which those that a parameter's form allows are tried. */
const patterned = ["", "@0", "@1700000000", "@0/1700000000"];

interface ParameterSchema {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly pattern?: string;
  readonly anyOf?: readonly { readonly const: string }[];
  readonly default?: unknown;
}
