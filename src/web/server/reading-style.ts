import reading from "./reading.css" with { type: "text" };
import variables from "./variables.css" with { type: "text" };

/** The style of pages that are read like a book: the interface, and the documents. */
export const readingStyle = `${variables}${reading}`;

/**
 * Headers of such a page: it may load nothing, from wherever, and has the one style that stands in it.
 *
 * @param options.isLinked it also has pictures and forms of this server
 */
export function readingHeaders(style: string, { isLinked }: { isLinked: boolean }) {
  const hash = new Bun.CryptoHasher("sha256").update(style).digest("base64");
  const [pictures, forms] = isLinked ? [" img-src 'self';", "'self'"] : ["", "'none'"];
  return {
    "Cache-Control": "max-age=300",
    "Content-Security-Policy": `default-src 'none'; style-src 'sha256-${hash}';${pictures} base-uri 'none'; form-action ${forms}; frame-ancestors 'none'`,
    "Referrer-Policy": "no-referrer",
  };
}
