import { type TSchema, TypeGuard } from "@sinclair/typebox";
import { capital } from "../../../base/words.ts";
import { type ErrorName, errorTable } from "../../server/http-errors.ts";
import { exampleOf, type JsonObject } from "./openapi-examples.ts";

/** Gathers what a document names once and refers to: a record's schema becomes a component by its title. */
export class Components {
  readonly schemas = new Map<string, JsonObject>();
  readonly parameters = new Map<string, JsonObject>();
  readonly responses = new Map<string, JsonObject>();

  /** A schema as a document has it, every titled object in it by reference. */
  schema(schema: TSchema): JsonObject {
    if (TypeGuard.IsArray(schema)) return { ...plain(schema), items: this.schema(schema.items) };
    if (TypeGuard.IsUnion(schema) && schema.anyOf.every(TypeGuard.IsObject))
      return { ...plain(schema), anyOf: schema.anyOf.map((one) => this.schema(one)) };
    if (!TypeGuard.IsObject(schema)) return plain(schema);
    const { title, ...object } = schema;
    const properties = Object.fromEntries(
      Object.entries(schema.properties).map(([name, field]) => [name, this.schema(field)]),
    );
    const whole = { ...plain(object as TSchema), properties };
    if (title === undefined) return whole;
    const name = componentName(title);
    this.#keep(this.schemas, name, { title, ...whole, examples: [exampleOf(schema)] });
    return { $ref: `#/components/schemas/${name}` };
  }

  /** A query parameter, by reference; parameters of one name are the same throughout a version. */
  query(name: string, schema: TSchema): JsonObject {
    const { description, title: _title, ...form } = plain(schema);
    return this.shared(name, { name, in: "query", required: false, description, schema: form });
  }

  /** A parameter as it stands, by reference. */
  shared(name: string, parameter: JsonObject): JsonObject {
    this.#keep(this.parameters, name, parameter);
    return { $ref: `#/components/parameters/${name}` };
  }

  /** A response as it stands, by reference. */
  response(name: string, response: JsonObject): JsonObject {
    this.#keep(this.responses, name, response);
    return { $ref: `#/components/responses/${name}` };
  }

  #keep(components: Map<string, JsonObject>, name: string, component: JsonObject): void {
    const known = components.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(component))
      throw new Error(`two different components are called ${name}`);
    components.set(name, component);
  }
}

/** `Pill-box status` as `PillBoxStatus`. */
function componentName(title: string): string {
  return title
    .split(/[^A-Za-z0-9]+/)
    .map(capital)
    .join("");
}

/** Without what TypeBox keeps beside the JSON of a schema. */
function plain(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}

/** Errors that any endpoint may answer with, besides those that come from its parameters and records. */
export const alwaysPossible: readonly ErrorName[] = [
  "accept_missing",
  "accept_unsuitable",
  "host_malformed",
  "coding_unsuitable",
  "token_missing",
  "token_expired",
  "token_invalid",
  "token_scope",
  "url_too_long",
  "attempts_exceeded",
  "budget_spent",
  "unknown",
  "too_busy",
];

/** Refusals of endpoints that refuse parameters that they do not know. */
export const ofUnknownParameters: readonly ErrorName[] = ["parameter_unknown"];

/** Refusals of endpoints that have parameters. */
export const ofParameters: readonly ErrorName[] = [
  "parameter_malformed",
  "parameter_repeated",
  "path_malformed",
];

/** Responses by status, each with the Error bodies that it can have; the same ones by reference. */
export function refusalResponses(
  errors: readonly ErrorName[],
  { components, error }: { components: Components; error: JsonObject },
): Record<string, JsonObject> {
  const byStatus = Map.groupBy(errors, (name) => errorTable[name].status);
  const statuses = [...byStatus].sort(([one], [other]) => one - other);
  return Object.fromEntries(
    statuses.map(([status, names]) => {
      const response = {
        description: names
          .map((name) => `${errorTable[name].code}: ${errorTable[name].message}`)
          .join("\n\n"),
        ...(status in headers ? { headers: headers[status] } : {}),
        content: { "application/json": { schema: error, examples: examplesOf(names) } },
      };
      return [String(status), components.response(names.join("."), response)];
    }),
  );
}

function examplesOf(names: readonly ErrorName[]): JsonObject {
  return Object.fromEntries(
    names.map((name) => {
      const { code, message } = errorTable[name];
      return [name, { value: { code, message } }];
    }),
  );
}

const retryAfter = {
  "Retry-After": {
    description: "seconds after which another attempt makes sense",
    required: true,
    schema: { type: "integer", minimum: 1 },
  },
};

const headers: Readonly<Record<number, JsonObject>> = {
  401: {
    "WWW-Authenticate": {
      description: "`OAuth2.0 realm=<realm>, error=invalid_token, error_description=<text>`",
      required: true,
      schema: {
        type: "string",
        pattern: "^OAuth2\\.0 realm=[^,]+, error=invalid_token, error_description=.+$",
      },
    },
  },
  429: retryAfter,
  503: retryAfter,
};
