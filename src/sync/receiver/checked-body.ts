import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { bodyCodings } from "../../http/body.ts";
import { HttpError } from "../../http/errors.ts";
import { parseBody } from "../../http/parsed-body.ts";
import type { BodyForm } from "../route.ts";
import type { HomeCall } from "./home-route.ts";

/** A JSON body of at most these many bytes, compressed or not. */
export function jsonForm(bytes_max: number): BodyForm {
  return { type: "application/json", codings: bodyCodings, bytes_max };
}

/**
 * Reads JSON bodies of a schema, decompressed to at most `text_bytes_max`.
 *
 * @throws HttpError 400 where it is no JSON, 413 where it expands to more, 422 that names the first field that is not as it should be
 */
export function bodyReader<Schema extends TSchema>(
  schema: Schema,
  text_bytes_max: number,
): (call: HomeCall) => Static<Schema> {
  const check = TypeCompiler.Compile(schema);
  return ({ exchange, body }) => {
    const value = parseBody(exchange, body, text_bytes_max);
    if (check.Check(value)) return value as Static<Schema>;
    const first = check.Errors(value).First();
    const fault = first === undefined ? "it has another shape" : `${first.path || "/"}: ${first.message}`;
    throw new HttpError("body_unsuitable", { fault });
  };
}
