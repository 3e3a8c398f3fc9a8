import { type Acceptance, readAcceptEncoding } from "../http/content-coding.ts";
import { HttpError } from "../http/errors.ts";

/**
 * Refuses a request whose Accept header does not name `application/json` with a quality above 0. Other types
 * beside it are allowed, as are parameters; a wildcard does not name it.
 */
export function requireJsonAccepted(accept: string | undefined): void {
  if (accept === undefined || accept.trim() === "") throw new HttpError("accept_missing", {});
  if (!(accept.match(elementForm) ?? []).some(namesJson)) throw new HttpError("accept_unsuitable", {});
}

/** The content codings that a client accepts. Throws where it accepts none of ours, nor a body without coding. */
export function requireCodingAccepted(acceptEncoding: string | undefined): Acceptance {
  const accepted = readAcceptEncoding(acceptEncoding);
  if (!accepted.identity && accepted.coding === undefined) throw new HttpError("coding_unsuitable", {});
  return accepted;
}

function namesJson(range: string): boolean {
  const [type, ...parameters] = (range.match(partForm) ?? []).map((part) => part.trim().toLowerCase());
  return type === "application/json" && parameters.every(allowsParameter);
}

/** A weight as RFC 9110 §12.4.2 writes it that is not zero, or any other parameter of the form name=value. */
function allowsParameter(parameter: string): boolean {
  if (parameter === "") return true;
  const weight = /^q\s*=(.*)$/.exec(parameter)?.[1];
  if (weight !== undefined) return qvalue.test(weight.trim()) && Number(weight) > 0;
  return /^[\w!#$%&'*+.^`|~-]+=.*$/.test(parameter);
}

const qvalue = /^(?:0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/;

/** The elements of a list, and the parts of an element: a separator within a quoted string is none. */
const elementForm = /(?:[^,"]|"(?:\\.|[^"\\])*"?)+/g;
const partForm = /(?:[^;"]|"(?:\\.|[^"\\])*"?)*/g;
