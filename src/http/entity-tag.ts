/** Whether an If-None-Match header names the tag, or any at all (RFC 9110 §13.1.2). */
export function namesTag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  // Weak comparison: what is between the quotes counts. No tag of ours has a comma or quote in it.
  const opaque = etag.slice(etag.indexOf('"'));
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === opaque);
}
