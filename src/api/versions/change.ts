import { type TArray, type TObject, type TProperties, Type } from "@sinclair/typebox";
import { type Endpoint, reshaped } from "../endpoint.ts";
import type { ApiVersion } from "../versions.ts";

/**
 * What a version changed in the form of the interface, told as the way back: from the newer form of an endpoint
 * it makes the older one. Requests of the older form are turned into the newer on the way in, answers into the
 * older on the way out, and the schemas say the same, so that a change knows nothing of the others.
 */
export interface Change {
  /** The version that brought the newer form; those below it have the older. */
  readonly version: ApiVersion;
  /** What the version changed, in words. */
  readonly summary: string;
  /** The older form; the endpoint itself where the change does not concern it. */
  older(endpoint: Endpoint): Endpoint;
}

/** A list's endpoint with other records: `properties` of their schema and the records themselves. */
export function withRecords(
  endpoint: Endpoint,
  older: {
    properties: (newer: TProperties) => TProperties;
    record: (newer: Record<string, unknown>) => Record<string, unknown>;
  },
): Endpoint {
  const { properties, ...options } = (endpoint.response as TArray<TObject>).items;
  return {
    ...endpoint,
    response: Type.Array(Type.Object(older.properties(properties), named(options))),
    handle: async (call) =>
      reshaped(await endpoint.handle(call), ({ body, ...answer }) => ({
        ...answer,
        body: (body as Record<string, unknown>[]).map(older.record),
      })),
  };
}

/** The part of a schema's options that says what it is, not what it looks like. */
export function named({ title, description }: { title?: string; description?: string }) {
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
}
