/**
 * A text as the columns hold it that records are looked up by. PostgreSQL takes neither NUL nor halves of surrogate pairs, and
 * no index takes a key of more than some 2,700 bytes: such a text is known by its hash. What is served comes from the record.
 */
export function lookupText(text: string): string {
  if (text.length <= length_max && !text.includes("\0") && text.isWellFormed()) return text;
  const hash = new Bun.CryptoHasher("sha256").update(JSON.stringify(text)).digest("hex");
  return `${text.slice(0, shown_length).replaceAll("\0", "").toWellFormed()}…${hash}`;
}

/** UTF-16 units, each at most three bytes in UTF-8. */
const length_max = 800;
const shown_length = 100;
