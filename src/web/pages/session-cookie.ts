/**
 * A session is the token itself, in a cookie that no script can read and no other site can have sent along: so it ends when the token does, sees what the token sees,
 * outlives a restart of the server, and there is nothing to keep of it here. The browser forgets it when it is closed.
 */

/** The token in the cookie of a request; undefined where there is none. */
export function tokenIn(request: Request): string | undefined {
  const sent = new Bun.CookieMap(request.headers.get("cookie") ?? "");
  const name = cookieNameOf(request.url);
  // Whoever reads along could have put the other into the browser by an address without TLS.
  const plain = cameByTls(request) ? null : sent.get(name);
  return sent.get(secured + name) || plain || undefined;
}

/** The Set-Cookie header that begins a session. */
export function sessionCookie(request: Request, token: string): string {
  const name = cookieNameOf(request.url);
  return cameByTls(request)
    ? `${secured}${name}=${token}; ${attributes}; Secure`
    : `${name}=${token}; ${attributes}`;
}

/** The Set-Cookie headers that end it, whichever way it came. */
export function endedCookies(request: Request): readonly string[] {
  const name = cookieNameOf(request.url);
  return [`${name}=; ${attributes}; Max-Age=0`, `${secured}${name}=; ${attributes}; Secure; Max-Age=0`];
}

/**
 * Whether a form was sent by one of our own pages. Another site could otherwise sign somebody in with a token of its own.
 *
 * @see https://www.w3.org/TR/fetch-metadata/ it is left out where a page came by plain HTTP, and older browsers do not know it: all of them send Origin
 */
export function isOwnForm(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = request.headers.get("origin");
  return origin !== null && URL.parse(origin)?.host === new URL(request.url).host;
}

/** Browsers keep one jar for all ports of a host, and a gateway and a central may run on one: each has a name of its own. */
function cookieNameOf(url: string): string {
  const { protocol, port } = new URL(url);
  return `lintel-${port || protocol.slice(0, -1)}`;
}

/**
 * Whether the browser spoke TLS, by what itself or a proxy says. Nobody has to be trusted for that: the word makes a cookie stricter and never laxer, and whoever
 * says it without TLS is only not signed in.
 */
function cameByTls({ url, headers }: Request): boolean {
  const isEncrypted = (one: string | null) => one?.startsWith("https:") === true;
  const [outermost = ""] = (headers.get("x-forwarded-proto") ?? "").split(",");
  const [forwarded = ""] = (headers.get("forwarded") ?? "").split(",");
  return (
    isEncrypted(url) ||
    isEncrypted(headers.get("origin")) ||
    outermost.trim().toLowerCase() === "https" ||
    /(^|;)\s*proto="?https"?\s*(;|$)/i.test(forwarded)
  );
}

/** Browsers take a cookie of such a name by TLS alone, from this host alone (RFC 6265bis §4.1.3.2). */
const secured = "__Host-";
const attributes = "Path=/; HttpOnly; SameSite=Strict";
