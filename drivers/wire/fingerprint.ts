/** Tells a key from others and gives nothing of it away: 64 bits of its SHA-256, in hex. */
export function fingerprintOf(key: Uint8Array): string {
  return new Bun.CryptoHasher("sha256").update(key).digest("hex").slice(0, 16);
}
