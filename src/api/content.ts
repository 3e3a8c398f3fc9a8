import { type Coding, codings } from "../http/content-coding.ts";
import type { Answer } from "./endpoint.ts";

/** An answer as it is sent: its text in bytes, and compressed once that has been asked for. */
export class Content {
  readonly next: Answer["next"];
  readonly #plain: Uint8Array<ArrayBuffer>;
  readonly #coded = new Map<Coding, Uint8Array>();
  #etag: string | undefined;

  constructor({ body, next }: Answer) {
    this.#plain = new TextEncoder().encode(JSON.stringify(body));
    this.next = next;
  }

  /** Bytes held in memory. */
  get bytes(): number {
    let bytes = this.#plain.length;
    for (const coded of this.#coded.values()) bytes += coded.length;
    return bytes;
  }

  /** Whether compressing makes it worth a packet less. */
  get isLarge(): boolean {
    return this.#plain.length >= large_bytes;
  }

  as(coding: Coding | undefined): Uint8Array {
    if (coding === undefined) return this.#plain;
    let coded = this.#coded.get(coding);
    if (coded === undefined) {
      coded = codings[coding](this.#plain);
      this.#coded.set(coding, coded);
    }
    return coded;
  }

  /**
   * An entity tag of 128 bits made from the content alone: the same after a restart, and wherever the same is
   * read again. Weak, because one tag stands for every coding of it (RFC 9110 §8.8.1).
   */
  get etag(): string {
    this.#etag ??= `W/"${hex(Bun.hash.xxHash3(this.#plain))}${hex(Bun.hash.wyhash(this.#plain))}"`;
    return this.#etag;
  }
}

/** Whether an If-None-Match header names the tag, or any at all (RFC 9110 §13.1.2). */
export function namesTag(header: string | null, etag: string): boolean {
  if (header === null) return false;
  if (header.trim() === "*") return true;
  // Weak comparison: what is between the quotes counts. No tag of ours has a comma or quote in it.
  const opaque = etag.slice(etag.indexOf('"'));
  return header.split(",").some((tag) => tag.trim().replace(/^W\//, "") === opaque);
}

function hex(hash: bigint): string {
  return hash.toString(16).padStart(16, "0");
}

/** Less than this fits a single packet either way. */
const large_bytes = 1_300;
