import { type TSchema, TypeGuard } from "@sinclair/typebox";
import { exampleOf } from "./examples.ts";
import type { JsonObject } from "./json.ts";

/** Gathers what a document names once and refers to: a record's schema becomes a component by its title. */
export class Components {
  readonly schemas = new Map<string, JsonObject>();
  readonly parameters = new Map<string, JsonObject>();
  readonly responses = new Map<string, JsonObject>();

  /** A schema as a document has it, every titled object in it by reference. */
  schema(schema: TSchema): JsonObject {
    if (TypeGuard.IsArray(schema)) return { ...plain(schema), items: this.schema(schema.items) };
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
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join("");
}

/** Without what TypeBox keeps beside the JSON of a schema. */
function plain(schema: TSchema): JsonObject {
  return JSON.parse(JSON.stringify(schema));
}
