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
 * It is the HTTP status followed by two digits, except 0, which is the interface's own and has status 500.
 * `docs/errors.md` has the same table for readers; a test holds the two equal.
 */
export const errorTable = {
  unknown: row(0, "Unknown error"),
  accept_missing: row(40001, "The Accept header is missing: it must name application/json"),
  accept_unsuitable: row(40002, "The Accept header does not name application/json with a quality above 0"),
  host_malformed: row(40003, "The Host header is missing or malformed"),
  coding_unsuitable: row(40004, "The Accept-Encoding header must allow zstd, gzip or identity"),
  body_malformed: row(40005, "The body cannot be read: {fault}"),
  token_missing: row(40101, "The access token is missing"),
  token_expired: row(40102, "The access token has expired"),
  token_invalid: row(40103, "The access token is invalid"),
  token_scope: row(40104, "The scope of the access token does not allow this request"),
  token_homeless: row(40105, "The sync token is bound to no home"),
  token_bound: row(
    40106,
    "The access token is bound to homes, projects or studies and may not read data of all homes",
  ),
  form_foreign: row(40301, "The form was not sent by a page of this server: open the page again"),
  setup_scope: row(
    40302,
    "Setting up a home needs a token of scope admin: to make one, run lintel token create NAME --scope admin --link",
  ),
  alerts_scope: row(
    40303,
    "Dealing with alerts needs a token of scope admin: to make one, run lintel token create NAME --scope admin --link",
  ),
  home_restricted: row(
    40304,
    "Home {home} is restricted: what was recorded in it is kept, and shown to nobody",
  ),
  notes_scope: row(
    40305,
    "Writing notes needs a token of scope admin, or [home] may_note = true at the gateway: to make one, run lintel token create NAME --scope admin --link",
  ),
  path_unknown: row(40401, "There is nothing at this path"),
  typename_unknown: row(40402, "No item type is named {typename}"),
  item_unknown: row(40403, "No item of type {typename} is named {itemname}"),
  record_unknown: row(40404, "There is no {record} {id}"),
  method_not_allowed: row(40501, "Only GET and HEAD are allowed here"),
  method_unsuitable: row(40502, "Only {methods} is allowed here"),
  body_stalled: row(40801, "The body has not come within {limit_s} s"),
  batch_gap: row(40901, "This server lacks readings before these: continue after number {held_seq}"),
  epoch_foreign: row(40902, "The epoch {epoch} belongs to another home"),
  batch_diverged: row(
    40903,
    "This server has another reading under the number before these: two gateways use epoch {epoch}",
  ),
  home_other: row(40904, "The token is of home {home}, and the gateway is in home {gateway_home}"),
  cursor_gone: row(
    41001,
    "The cursor is of another store or series, or readings before it have changed: begin again with an empty since",
  ),
  body_too_large: row(41301, "The body has more than {bytes_max} bytes"),
  body_expands: row(41302, "The body expands to more than {bytes_max} bytes"),
  url_too_long: row(41401, "The address is longer than {length_max} characters"),
  content_type_unsuitable: row(41501, "The Content-Type must be {expected}"),
  content_coding_unsuitable: row(41502, "The Content-Encoding must be {expected}"),
  parameter_malformed: row(42201, "{parameter} must be {expected}"),
  parameter_repeated: row(42202, "{parameter} is given more than once; it must be {expected}"),
  path_malformed: row(42203, "{parameter} in the path is not percent-encoded UTF-8"),
  body_unsuitable: row(42204, "The body is not what is expected here: {fault}"),
  parameters_exclusive: row(42205, "{parameter} cannot be given together with {other}"),
  quota_exceeded: row(42206, "Home {home} may have at most {most} {quota} here, and would have more"),
  parameter_unknown: row(42207, 'No parameter here is named "{parameter}": {remedy}'),
  query_refused: row(42208, "The query has no answer: {fault}"),
  attempts_exceeded: row(42901, "Too many wrong access tokens from this address: try again in {retry_s} s"),
  central_full: row(42902, "Other gateways are uploading: try again in {retry_s} s"),
  allowance_spent: row(
    42903,
    "Home {home} has sent more {quota} than {most} a day: try again in {retry_s} s",
  ),
  budget_spent: row(42904, "This token or this address has too much under way: try again in {retry_s} s"),
  too_busy: row(50301, "Too many requests at once: try again in {retry_s} s"),
  store_unreachable: row(
    50302,
    "The database cannot be reached, nothing was changed: try again in {retry_s} s",
  ),
  disk_full: row(50701, "The disk is full, nothing was changed: try again in {retry_s} s"),
  disk_read_only: row(50702, "The disk is read-only, nothing was changed: try again in {retry_s} s"),
  disk_failing: row(50703, "The disk reports an error: try again in {retry_s} s"),
} as const;

function row<const Message extends string>(code: number, message: Message) {
  return { code, status: code === 0 ? 500 : Math.floor(code / 100), message };
}

export type ErrorName = keyof typeof errorTable;

/** An error answer. Thrown anywhere while a request is handled, it becomes the response. */
export class HttpError<Name extends ErrorName = ErrorName> extends Error {
  override readonly name = "HttpError";
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: ErrorRecord;

  /**
   * @param values what the placeholders of the message stand for; text of a client's own becomes a plain line and is cut short.
   *   `retry_s` becomes the header Retry-After, too
   * @param headers other response headers that belong to this error
   * @param more fields of the body besides code and message, where a program needs them to go on
   */
  constructor(
    error: Name,
    values: Values<Name>,
    headers: Readonly<Record<string, string>> = {},
    more: Readonly<Record<string, string | number>> = {},
  ) {
    const { code, status, message } = errorTable[error];
    const filled = fill(message, values);
    super(filled);
    this.status = status;
    this.headers = "retry_s" in values ? { "Retry-After": String(values.retry_s), ...headers } : headers;
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
