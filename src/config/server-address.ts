/**
 * A warning about a server that others reach by plain HTTP, in one line; undefined where there is TLS, or nobody but this machine
 * reaches it.
 *
 * @param server how the server is named, and the settings by which TLS is served
 */
export function plainHttpWarning(
  listen: { readonly hostname: string; readonly port: number },
  tls: unknown,
  server: { readonly name: string; readonly remedy: string },
): string | undefined {
  const { hostname, port } = listen;
  if (tls !== undefined || isOwnHost(hostname)) return undefined;
  const host = hostname.includes(":") ? `[${hostname}]` : hostname;
  return `${server.name} plain HTTP on ${host}:${port}, where tokens and people's data travel in the open: ${server.remedy}`;
}

/** Whether what is sent to a server travels in the open. */
export function isInTheOpen(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol === "http:" && !isOwnHost(hostname.replace(/^\[(.*)\]$/, "$1"));
}

/** Whether a host is this machine, which nobody else reaches by that name. IPv6 without brackets. */
export function isOwnHost(hostname: string): boolean {
  return hostname === "localhost" || hostname === "::1" || /^127\./.test(hostname);
}

/** The host for the URL that a client on this machine uses. */
export function reachableHost(hostname: string): string {
  if (hostname === "0.0.0.0" || hostname === "::") return "127.0.0.1";
  return hostname.includes(":") ? `[${hostname}]` : hostname;
}

/** Whether a text is the address of a server, with nothing of its interface behind it: `https://central.example`. */
export function isServerAddress(text: string): boolean {
  const url = URL.parse(text);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    url.search === "" &&
    url.username === "" &&
    url.hash === ""
  );
}
