/** How bad a line is: probabilities for each byte and each frame that passes. */
export interface Noise {
  readonly flip_per_byte?: number;
  readonly cut_per_frame?: number;
  readonly garbage_per_frame?: number;
  readonly lost_per_frame?: number;
}

/**
 * A frame as it comes through a bad line: bits flipped, cut short, with garbage before it, or lost. `random` gives
 * numbers from 0 up to 1.
 */
export function spoil(frame: Uint8Array, noise: Noise, random: () => number): Uint8Array {
  if (random() < (noise.lost_per_frame ?? 0)) return new Uint8Array();
  const garbage = random() < (noise.garbage_per_frame ?? 0) ? Math.ceil(random() * garbage_most_bytes) : 0;
  const kept = random() < (noise.cut_per_frame ?? 0) ? Math.floor(random() * frame.length) : frame.length;
  const bytes = [
    ...Array.from({ length: garbage }, () => Math.floor(random() * 256)),
    ...frame.subarray(0, kept),
  ];
  return Uint8Array.from(bytes, (byte) =>
    random() < (noise.flip_per_byte ?? 0) ? byte ^ (1 << Math.floor(random() * 8)) : byte,
  );
}

const garbage_most_bytes = 40;
