import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Contract } from "../../../../src/web/api/contract/openapi.ts";

/** An answer as a client has it; `body` as parsed, undefined where there is none. */
export interface Received {
  readonly method: string;
  /** Below the version, without query. */
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Holds answers to a version's contract, by a validator that knows nothing of how the contract was made. */
export class ContractCheck {
  readonly #contract: Contract;
  readonly #ajv: Ajv2020;
  readonly #validators = new Map<string, ValidateFunction>();

  constructor(contract: Contract) {
    this.#contract = contract;
    this.#ajv = new Ajv2020({ strict: false, allErrors: false });
    addFormats["default"](this.#ajv);
    this.#ajv.addFormat("unixtime", { type: "number", validate: Number.isSafeInteger });
    // The server must send no property that the contract doesn't name, although clients should bear additions.
    this.#ajv.addSchema(closed(contract) as object, "contract");
  }

  /** The path of the contract that a request's path is one of; both forms, with a slash at the end and without. */
  templateOf(path: string): string | undefined {
    const segments = segmentsOf(path);
    if (segments === undefined) return undefined;
    return Object.keys(this.#contract.paths).find((template) => {
      const pattern = segmentsOf(template) ?? [];
      return (
        pattern.length === segments.length &&
        pattern.every((part, index) => part.startsWith("{") || part === segments[index])
      );
    });
  }

  /** The rules of the contract that the answer breaks. */
  faultsOf(received: Received): string[] {
    const { method, status, headers } = received;
    const template = this.templateOf(received.path);
    if (template === undefined) return this.#refusalFaults(received, [404]);
    if (method !== "GET" && method !== "HEAD") return this.#refusalFaults(received, [405]);
    const stated = this.#contract.paths[template]?.get.responses[status];
    if (stated === undefined) return [`${status} is no status of ${template}`];
    const { response, pointer } = this.#resolved(
      stated,
      `/paths/${escaped(template)}/get/responses/${status}`,
    );
    const faults = this.#headerFaults(response, { headers, pointer });
    if (response.content === undefined || method === "HEAD")
      return received.body === undefined ? faults : [...faults, `a body with ${status} to ${method}`];
    if (headers.get("Content-Type") !== "application/json") faults.push("not JSON");
    return [...faults, ...this.#valueFaults(`${pointer}/content/application~1json/schema`, received.body)];
  }

  /** The rules of a record of the contract that a value breaks. */
  faultsOfRecord(name: string, value: unknown): string[] {
    return this.#valueFaults(`/components/schemas/${name}`, value);
  }

  #resolved(stated: object, pointer: string): { response: Response; pointer: string } {
    const { $ref: reference } = stated as { $ref?: string };
    if (reference === undefined) return { response: stated, pointer };
    const name = reference.split("/").at(-1) ?? "";
    return { response: this.#contract.components.responses[name] ?? {}, pointer: reference.slice(1) };
  }

  #refusalFaults({ method, status, headers, body }: Received, statuses: readonly number[]): string[] {
    const faults = statuses.includes(status) ? [] : [`${status}, not ${statuses}`];
    if (headers.get("Content-Type") !== "application/json") faults.push("not JSON");
    if (method === "HEAD") return body === undefined ? faults : [...faults, "a body to HEAD"];
    return [...faults, ...this.#valueFaults("/components/schemas/Error", body)];
  }

  #headerFaults(response: Response, { headers, pointer }: { headers: Headers; pointer: string }): string[] {
    return Object.entries(response.headers ?? {}).flatMap(([name, { required = false }]) => {
      const value = headers.get(name);
      if (value === null) return required ? [`no ${name}`] : [];
      const faults = this.#valueFaults(`${pointer}/headers/${name}/schema`, headerValue(value));
      return faults.map((fault) => `${name}: ${fault}`);
    });
  }

  #valueFaults(pointer: string, value: unknown): string[] {
    let validate = this.#validators.get(pointer);
    if (validate === undefined) {
      validate = this.#ajv.compile({ $ref: `contract#${encodeURI(pointer)}` });
      this.#validators.set(pointer, validate);
    }
    if (validate(value)) return [];
    return [
      `${this.#ajv.errorsText(validate.errors)} at ${pointer}: ${JSON.stringify(value)?.slice(0, 200)}`,
    ];
  }
}

interface Response {
  readonly headers?: Readonly<Record<string, { readonly required?: boolean }>>;
  readonly content?: object;
}

/** Segments of a path, without the empty one that a slash at the end makes; undefined where another is empty. */
function segmentsOf(path: string): string[] | undefined {
  const segments = path.slice(1).split("/");
  if (segments.length > 1 && segments.at(-1) === "") segments.pop();
  return segments.includes("") ? undefined : segments;
}

function headerValue(text: string): string | number {
  return /^\d+$/.test(text) ? Number(text) : text;
}

function escaped(template: string): string {
  return template.replaceAll("~", "~0").replaceAll("/", "~1");
}

/** The same document with every object that names its properties allowing no others. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([name, part]) => [name, closed(part)]);
  const object = Object.fromEntries(entries);
  return object["type"] === "object" && "properties" in object
    ? { ...object, additionalProperties: false }
    : object;
}
