import type { Coding } from "../http/content-coding.ts";
import { Content } from "./content.ts";
import type { Answer } from "./endpoint.ts";
import { RecentlyUsed } from "./recently-used.ts";

/**
 * Pages that were sent lately, encoded, by their marks. A mark names one state of one page (`Store.pageMark`), so
 * nothing has to be thrown out when readings arrive: a page that has changed is asked for by another mark, and the
 * old one goes in its turn.
 */
export class PageCache {
  readonly #pages: RecentlyUsed<Content>;

  /** @param options.cache_bytes_max 0 keeps nothing */
  constructor(options: { cache_bytes_max: number }) {
    this.#pages = new RecentlyUsed({ weight_max: options.cache_bytes_max });
  }

  get(mark: string): Content | undefined {
    return this.#pages.get(mark);
  }

  async getOrMake(mark: string, make: () => Promise<Answer>): Promise<Content> {
    const known = this.#pages.get(mark);
    if (known !== undefined) return known;
    const made = new Content(await make());
    this.#keep(mark, made);
    return made;
  }

  /** The bytes of a page, compressed at most once for as long as it is kept. */
  bytesOf(mark: string, page: Content, coding: Coding | undefined): Uint8Array {
    const before = page.bytes;
    const bytes = page.as(coding);
    if (page.bytes !== before) this.#keep(mark, page);
    return bytes;
  }

  #keep(mark: string, page: Content): void {
    this.#pages.set(mark, page, page.bytes + mark.length + entry_bytes);
  }
}

/** Memory of an entry besides its body, estimated. */
const entry_bytes = 1_024;
