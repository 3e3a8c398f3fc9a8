import { type TObject, type TSchema, TypeGuard } from "@sinclair/typebox";
import { type ErrorName, ErrorRecord } from "../../server/http-errors.ts";
import type { Area, Endpoint } from "../endpoint.ts";
import { type ApiVersion, changes, introducedBy, versions } from "../versions.ts";
import {
  alwaysPossible,
  Components,
  ofParameters,
  ofUnknownParameters,
  refusalResponses,
} from "./openapi-components.ts";
import type { JsonObject } from "./openapi-examples.ts";

/** A version of the interface as an OpenAPI 3.1 document. */
export type Contract = ReturnType<typeof contractOf>;

export type Operation = ReturnType<typeof operationOf>;

/** The contract of a version, from nothing but its endpoints. */
export function contractOf(version: ApiVersion, endpoints: readonly Endpoint[]) {
  const components = new Components();
  const error = components.schema(ErrorRecord);
  const paths = endpoints.map((endpoint): [path: string, { get: Operation }] => [
    // A path has no slash at its end in a document, as linters want it: the interface takes both.
    endpoint.template.replace(/\/$/, ""),
    { get: operationOf(endpoint, { components, error }) },
  ]);
  const areas = new Set(endpoints.map(({ area }) => area));
  return {
    openapi: "3.1.0",
    info: {
      title: "Lintel",
      version,
      description: introduction(version, endpoints),
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: `/v${version}` }],
    security: [{ bearer: [] }],
    tags: [...areas].map((name) => ({ name, description: areaDescriptions[name] })),
    paths: Object.fromEntries(paths),
    components: {
      schemas: sorted(components.schemas),
      parameters: sorted(components.parameters),
      responses: sorted(components.responses),
      securitySchemes: {
        bearer: {
          type: "http",
          scheme: "bearer",
          description: "An access token from whoever runs the server: `lintel token create NAME`.",
        },
      },
    },
  };
}

function operationOf(endpoint: Endpoint, common: { components: Components; error: JsonObject }) {
  const { components } = common;
  const repeatable = endpoint.area === "Time series";
  const followed = Object.hasOwn(endpoint.query.properties, "since");
  const parameters = [
    ...pathParameters(endpoint.path),
    ...Object.entries(endpoint.query.properties).map(([name, schema]) => components.query(name, schema)),
    ...(repeatable ? [components.shared("IfNoneMatch", ifNoneMatch)] : []),
    ...(followed ? [components.shared("LastEventId", lastEventId)] : []),
  ];
  const refusals: readonly ErrorName[] = [
    ...alwaysPossible,
    ...endpoint.refusals,
    ...(parameters.length === 0 ? [] : ofParameters),
    ...(endpoint.query.additionalProperties === false ? ofUnknownParameters : []),
  ];
  const paged = Object.hasOwn(endpoint.query.properties, "skip");
  const responses: Readonly<Record<string, JsonObject>> = {
    "200": {
      description: TypeGuard.IsArray(endpoint.response)
        ? "The records; an empty list where there are none."
        : "The record.",
      headers: { ...encodingHeaders, ...(paged ? linkHeader : {}), ...(repeatable ? cachingHeaders : {}) },
      content: {
        "application/json": { schema: components.schema(endpoint.response) },
        ...(followed ? { "text/event-stream": { schema: eventStream } } : {}),
      },
    },
    ...(repeatable
      ? { "304": { description: "The client holds the same page already.", headers: cachingHeaders } }
      : {}),
    ...refusalResponses(refusals, common),
  };
  return {
    operationId: endpoint.name,
    summary: endpoint.summary,
    description: answerOf(endpoint.response),
    tags: [endpoint.area],
    parameters,
    responses,
  };
}

/** The answer in words: a list of which record, or one. */
function answerOf(response: TSchema): string {
  if (TypeGuard.IsArray(response)) return `Answers a list of the record "${response.items.title}".`;
  return `Answers one record "${response.title}".`;
}

function pathParameters(path: TObject): JsonObject[] {
  return Object.entries(path.properties).map(([name, schema]) => {
    const { description, ...form } = JSON.parse(JSON.stringify(schema));
    return { name, in: "path", required: true, description, schema: form };
  });
}

const encodingHeaders = {
  "Content-Encoding": {
    description:
      "how the body is compressed, where the request's Accept-Encoding allows it and it is worth it",
    schema: { type: "string", enum: ["zstd", "gzip"] },
  },
  Vary: {
    description: "the request headers that the form of the answer depends on",
    required: true,
    schema: { type: "string", const: "Accept-Encoding" },
  },
};

const cachingHeaders = {
  ETag: {
    description: "names the content: to be sent as `If-None-Match` with the next request for the same page",
    schema: { type: "string", pattern: '^W/"[0-9a-f]+"$' },
  },
  "Cache-Control": {
    description:
      "a page with an `ETag` may be kept by the client alone, and has to be asked for each time; any other is not kept at all",
    schema: { type: "string", enum: ["private, no-cache", "no-store"] },
  },
};

const ifNoneMatch: JsonObject = {
  name: "If-None-Match",
  in: "header",
  required: false,
  description: "the `ETag` of the page that the client holds: if it is still the same, the answer is 304",
  schema: { type: "string" },
};

const lastEventId: JsonObject = {
  name: "Last-Event-ID",
  in: "header",
  required: false,
  description: "of a stream: the `id` of the last message that came, which takes the place of `since`",
  schema: { type: "string" },
};

/** The other form of an answer to `since`. */
const eventStream: JsonObject = {
  type: "string",
  description:
    "where `Accept` names `text/event-stream` beside `application/json`, and `since` is given: the records after the cursor, and those " +
    "that arrive from then on, as server-sent events. The data of a message is the list of records of a page, its id the cursor behind them",
};

const linkHeader = {
  Link: {
    description: 'where a page follows, its address: `<…>; rel="next"`',
    schema: { type: "string", pattern: '^<[^>]+>; rel="next"$' },
  },
};

const areaDescriptions: Readonly<Record<Area, string>> = {
  Inventory: "Items by type: sensors, pill boxes, scales, watches, gateways.",
  "Time series": "What an item recorded.",
  Subjects: "Participants, and what the programme keeps of each.",
  Homes: "Homes, and what is installed in them.",
  Programme: "Projects, studies and issues.",
};

function sorted(components: ReadonlyMap<string, JsonObject>): Record<string, JsonObject> {
  return Object.fromEntries([...components].sort(([one], [other]) => (one < other ? -1 : 1)));
}

/** The introduction of a version's contract, as Markdown: rules that hold for every endpoint. */
export function introduction(version: ApiVersion, endpoints: readonly Endpoint[]): string {
  const times = introducedBy("0.4", version)
    ? "Times are unix timestamps: whole seconds since 1970 in GMT."
    : "Times are text of ISO 8601 in GMT: `2013-05-01T12:00:00Z`.";
  const order = introducedBy("0.2", version) ? "newest" : "oldest";
  const news = newsOf(version, endpoints);
  const lines = [
    "Records and time series of a research programme, read-only.",
    "Every request carries `Authorization: bearer <ACCESS_TOKEN>` and an `Accept` header that names " +
      "`application/json`. Paths work with and without a slash at the end, and HEAD wherever GET does.",
    "A client that a generator has made of this document mostly sends `Accept: */*`, which is refused: give it " +
      "`Accept: application/json` as a header of all its requests, in the place where it takes the token.",
    "A token may be bound to homes, projects or studies. It then sees what belongs to these: lists have nothing else, " +
      "and what is not in them is not found.",
    `${times} Time series come ${order} first. Follow \`Link: <…>; rel="next"\` to walk all pages: nothing is ` +
      "left out or repeated while records arrive.",
    "Whatever is not a success has an Error as its body; its `code` never changes its meaning.",
    ...(news.length === 0 ? [] : [`New in ${version}:\n\n${news.map((line) => `- ${line}`).join("\n")}`]),
  ];
  return lines.join("\n\n");
}

/** Changes and additions of a version, a line each; none for the first version. */
export function newsOf(version: ApiVersion, endpoints: readonly Endpoint[]): string[] {
  if (version === versions[0]) return [];
  const changed = changes.filter((change) => change.version === version).map(({ summary }) => summary);
  const added = endpoints.filter(({ since }) => since === version).map(({ template }) => `\`${template}\``);
  return [...changed, ...added];
}
