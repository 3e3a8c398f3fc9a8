/**
 * Gives a response what every response has, unless its route says otherwise: it is what its Content-Type says and nothing that a
 * browser guesses from its bytes, and nobody between server and client keeps it, because most of what is served is about people.
 */
export function protect(response: Response): Response {
  const { headers } = response;
  headers.set("X-Content-Type-Options", "nosniff");
  if (!headers.has("Cache-Control")) headers.set("Cache-Control", "no-store");
  return response;
}
