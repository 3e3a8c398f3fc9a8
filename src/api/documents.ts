import { codings, readAcceptEncoding } from "../http/content-coding.ts";
import { HttpError } from "../http/errors.ts";
import type { Exchange } from "../http/exchange.ts";
import { contractOf } from "./contract/openapi.ts";
import { pageOf, pageStyle } from "./contract/page.ts";
import type { Endpoint } from "./endpoint.ts";
import type { ApiVersion } from "./versions.ts";

/** A document that explains a version. It needs no token and ignores the Accept header. */
export interface Document {
  readonly path: string;
  respond(exchange: Exchange): Response;
}

/** The contract of each version, for programs and as a page for people; each made when it is first asked for. */
export function documentsOf(versions: ReadonlyMap<ApiVersion, readonly Endpoint[]>): Document[] {
  return [...versions].flatMap(([version, endpoints]) => {
    const contract = () => contractOf(version, endpoints);
    const forPrograms = madeOnce(() => JSON.stringify(contract()));
    const forPeople = madeOnce(() => pageOf(contract(), anyOrigin));
    return [
      document(`/v${version}/openapi.json`, "application/json", forPrograms),
      document(`/v${version}/docs`, "text/html; charset=utf-8", ({ url }) =>
        forPeople().replaceAll(anyOrigin, new URL(url).origin),
      ),
    ];
  });
}

function document(path: string, contentType: string, textFor: (exchange: Exchange) => string): Document {
  return {
    path,
    respond: (exchange) => {
      if (exchange.method !== "GET" && exchange.method !== "HEAD")
        throw new HttpError("method_not_allowed", {}, { Allow: "GET, HEAD" });
      const { coding } = readAcceptEncoding(exchange.acceptEncoding);
      const bytes = new TextEncoder().encode(textFor(exchange));
      return new Response(coding === undefined ? bytes : codings[coding](bytes), {
        headers: {
          "Content-Type": contentType,
          ...(coding === undefined ? {} : { "Content-Encoding": coding }),
          Vary: "Accept-Encoding",
          "Cache-Control": "max-age=300",
          ...protection,
        },
      });
    },
  };
}

/** Stands for where the server is reached, until it is known from a request. */
const anyOrigin = "https://lintel.invalid";

/** A page may load nothing, from wherever, and has the one style that stands in it. */
const protection = {
  "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${hashOf(pageStyle)}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "X-Content-Type-Options": "nosniff",
  "Referrer-Policy": "no-referrer",
};

function hashOf(text: string): string {
  return new Bun.CryptoHasher("sha256").update(text).digest("base64");
}

function madeOnce(make: () => string): () => string {
  let made: string | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
