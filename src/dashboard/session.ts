/**
 * A session is the token itself, in a cookie that no script can read and no other site can have sent along: so it ends when the token does, sees what the token sees,
 * outlives a restart of the server, and there is nothing to keep of it here. The browser forgets it when it is closed.
 */

/** The token in the cookie of a request; undefined where there is none. */
export function tokenIn(request: Request): string | undefined {
  const name = cookieNameOf(request.url);
  for (const part of (request.headers.get("cookie") ?? "").split(";")) {
    const [before, value] = part.trim().split("=");
    if (before === name && value) return value;
  }
  return undefined;
}

/** The Set-Cookie header that begins a session. */
export function sessionCookie(url: string, token: string): string {
  return `${cookieNameOf(url)}=${token}; ${attributesOf(url)}`;
}

/** The one that ends it. */
export function endedCookie(url: string): string {
  return `${cookieNameOf(url)}=; ${attributesOf(url)}; Max-Age=0`;
}

/**
 * Whether a form was sent by one of our own pages. Another site could otherwise sign somebody in with a token of its own.
 *
 * @see https://www.w3.org/TR/fetch-metadata/ browsers from before it send Origin
 */
export function isOwnForm(request: Request): boolean {
  const site = request.headers.get("sec-fetch-site");
  if (site !== null) return site === "same-origin" || site === "none";
  const origin = request.headers.get("origin");
  return origin === null || URL.parse(origin)?.host === new URL(request.url).host;
}

/** Browsers keep one jar for all ports of a host, and a gateway and a central may run on one: each has a name of its own. */
function cookieNameOf(url: string): string {
  const { protocol, port } = new URL(url);
  const name = `lintel-${port || protocol.slice(0, -1)}`;
  return protocol === "https:" ? `__Host-${name}` : name;
}

function attributesOf(url: string): string {
  const secure = new URL(url).protocol === "https:" ? "; Secure" : "";
  return `Path=/; HttpOnly; SameSite=Strict${secure}`;
}
