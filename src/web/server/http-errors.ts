import { type Static, Type } from "@sinclair/typebox";
import { shortLine } from "../../base/text.ts";

/** The body of every answer that is not a success. */
export const ErrorRecord = Type.Object(
  {
    code: Type.Integer({ description: "numeric code of the error" }),
    message: Type.String({ description: "description of the error code" }),
  },
  { title: "Error" },
);

export type ErrorRecord = Static<typeof ErrorRecord>;

/**
 * All errors that are served, in one table. Client programs tell errors apart by `code`: add codes, never change one.
 * It is the HTTP status followed by two digits, except 0, which is the interface's own.
 * `docs/errors.md` has the same table for readers; a test holds the two equal.
 */
export const errorTable = {
  unknown: { code: 0, status: 500, message: "Unknown error" },
  accept_missing: {
    code: 40001,
    status: 400,
    message: "The Accept header is missing: it must name application/json",
  },
  accept_unsuitable: {
    code: 40002,
    status: 400,
    message: "The Accept header does not name application/json with a quality above 0",
  },
  host_malformed: { code: 40003, status: 400, message: "The Host header is missing or malformed" },
  coding_unsuitable: {
    code: 40004,
    status: 400,
    message: "The Accept-Encoding header must allow zstd, gzip or identity",
  },
  body_malformed: { code: 40005, status: 400, message: "The body cannot be read: {fault}" },
  token_missing: { code: 40101, status: 401, message: "The access token is missing" },
  token_expired: { code: 40102, status: 401, message: "The access token has expired" },
  token_invalid: { code: 40103, status: 401, message: "The access token is invalid" },
  token_scope: {
    code: 40104,
    status: 401,
    message: "The scope of the access token does not allow this request",
  },
  token_homeless: { code: 40105, status: 401, message: "The sync token is bound to no home" },
  token_bound: {
    code: 40106,
    status: 401,
    message: "The access token is bound to homes, projects or studies and may not read data of all homes",
  },
  form_foreign: {
    code: 40301,
    status: 403,
    message: "The form was not sent by a page of this server: open the page again",
  },
  path_unknown: { code: 40401, status: 404, message: "There is nothing at this path" },
  typename_unknown: { code: 40402, status: 404, message: "No item type is named {typename}" },
  item_unknown: { code: 40403, status: 404, message: "No item of type {typename} is named {itemname}" },
  record_unknown: { code: 40404, status: 404, message: "There is no {record} {id}" },
  method_not_allowed: { code: 40501, status: 405, message: "Only GET and HEAD are allowed here" },
  method_unsuitable: { code: 40502, status: 405, message: "Only {methods} is allowed here" },
  body_stalled: { code: 40801, status: 408, message: "The body has not come within {limit_s} s" },
  batch_gap: {
    code: 40901,
    status: 409,
    message: "This server lacks readings before these: continue after number {held_seq}",
  },
  epoch_foreign: { code: 40902, status: 409, message: "The epoch {epoch} belongs to another home" },
  batch_diverged: {
    code: 40903,
    status: 409,
    message: "This server has another reading under the number before these: two gateways use epoch {epoch}",
  },
  home_other: {
    code: 40904,
    status: 409,
    message: "The token is of home {home}, and the gateway is in home {gateway_home}",
  },
  cursor_gone: {
    code: 41001,
    status: 410,
    message:
      "The cursor is of another store or series, or readings before it have changed: begin again with an empty since",
  },
  body_too_large: { code: 41301, status: 413, message: "The body has more than {bytes_max} bytes" },
  body_expands: {
    code: 41302,
    status: 413,
    message: "The body expands to more than {bytes_max} bytes",
  },
  url_too_long: { code: 41401, status: 414, message: "The address is longer than {length_max} characters" },
  content_type_unsuitable: { code: 41501, status: 415, message: "The Content-Type must be {expected}" },
  content_coding_unsuitable: {
    code: 41502,
    status: 415,
    message: "The Content-Encoding must be {expected}",
  },
  parameter_malformed: { code: 42201, status: 422, message: "{parameter} must be {expected}" },
  parameter_repeated: {
    code: 42202,
    status: 422,
    message: "{parameter} is given more than once; it must be {expected}",
  },
  path_malformed: {
    code: 42203,
    status: 422,
    message: "{parameter} in the path is not percent-encoded UTF-8",
  },
  body_unsuitable: { code: 42204, status: 422, message: "The body is not what is expected here: {fault}" },
  parameters_exclusive: {
    code: 42205,
    status: 422,
    message: "{parameter} cannot be given together with {other}",
  },
  quota_exceeded: {
    code: 42206,
    status: 422,
    message: "Home {home} may have at most {most} {quota} here, and would have more",
  },
  parameter_unknown: {
    code: 42207,
    status: 422,
    message: 'No parameter here is named "{parameter}": {remedy}',
  },
  attempts_exceeded: {
    code: 42901,
    status: 429,
    message: "Too many wrong access tokens from this address: try again in {retry_s} s",
  },
  central_full: {
    code: 42902,
    status: 429,
    message: "Other gateways are uploading: try again in {retry_s} s",
  },
  allowance_spent: {
    code: 42903,
    status: 429,
    message: "Home {home} has sent more {quota} than {most} a day: try again in {retry_s} s",
  },
  budget_spent: {
    code: 42904,
    status: 429,
    message: "This token or this address has too much under way: try again in {retry_s} s",
  },
  too_busy: { code: 50301, status: 503, message: "Too many requests at once: try again in {retry_s} s" },
  store_unreachable: {
    code: 50302,
    status: 503,
    message: "The database cannot be reached, nothing was changed: try again in {retry_s} s",
  },
  disk_full: {
    code: 50701,
    status: 507,
    message: "The disk is full, nothing was changed: try again in {retry_s} s",
  },
  disk_read_only: {
    code: 50702,
    status: 507,
    message: "The disk is read-only, nothing was changed: try again in {retry_s} s",
  },
  disk_failing: {
    code: 50703,
    status: 507,
    message: "The disk reports an error: try again in {retry_s} s",
  },
} as const satisfies Record<string, { code: number; status: number; message: string }>;

export type ErrorName = keyof typeof errorTable;

/** An error answer. Thrown anywhere while a request is handled, it becomes the response. */
export class HttpError<Name extends ErrorName = ErrorName> extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly body: ErrorRecord;

  /**
   * @param values what the placeholders of the message stand for; text of a client's own becomes a plain line and is cut short
   * @param headers response headers that belong to this error
   * @param more fields of the body besides code and message, where a program needs them to go on
   */
  constructor(
    error: Name,
    values: Values<Name>,
    readonly headers: Readonly<Record<string, string>> = {},
    more: Readonly<Record<string, string | number>> = {},
  ) {
    const { code, status, message } = errorTable[error];
    const filled = fill(message, values);
    super(filled);
    this.status = status;
    this.body = { code, message: filled, ...more };
  }
}

/** The names in braces in a message. */
type Placeholders<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}`
  ? Name | Placeholders<Rest>
  : never;

type Values<Name extends ErrorName> = Readonly<
  Record<Placeholders<(typeof errorTable)[Name]["message"]>, string | number>
>;

const valueLength_max = 100;

function fill(message: string, values: Readonly<Record<string, string | number>>): string {
  return message.replace(/\{(\w+)\}/g, (_, name: string) => {
    return shortLine(String(values[name]), valueLength_max);
  });
}
