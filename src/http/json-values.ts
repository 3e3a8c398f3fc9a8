/**
 * Whether a JSON text, UTF-8, has more values than it may: each takes up to 85 bytes in memory, so that 32 MiB of empty lists would become 950 MB.
 * Counted are commas and opening brackets, also those in strings; of a text with fewer there are no more values than that.
 */
export function hasTooManyValues(json: Uint8Array, values_max: number): boolean {
  let values = 1;
  for (const byte of json) if (byte === comma || byte === bracket || byte === brace) values += 1;
  return values > values_max;
}

const comma = 0x2c;
const bracket = 0x5b;
const brace = 0x7b;
