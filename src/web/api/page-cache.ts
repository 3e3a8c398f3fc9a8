import { RecentlyUsed } from "../../base/recently-used.ts";
import type { Token } from "../../domain/token.ts";
import { usesHeader } from "../../domain/uses.ts";
import type { Store } from "../../store/store.ts";
import type { Authorization } from "../server/authorization.ts";
import type { Acceptance } from "../server/responses.ts";
import { EncodedAnswer, respond, type Success, successWith } from "./encoded-answers.ts";
import type { Repeatable } from "./endpoint.ts";

/** A request for a page that has passed every check. */
export interface CachedRequest {
  readonly request: Request;
  /** Its headers that answers depend on: `askedWith`. */
  readonly headers: string;
  /** When it came, unix milliseconds. */
  readonly now_ms: number;
  readonly token: Token;
  readonly accepted: Acceptance;
  /** `Store.changes` as it was before anything was read for this. */
  readonly changes: number | undefined;
}

/**
 * Pages that were sent lately, encoded, and the requests that they were sent to.
 *
 * A page is kept by its mark, which names one state of one page (`Store.markedPage`). So nothing has to be thrown out when
 * readings arrive: a page that has changed is asked for by another mark, and the old one goes in its turn.
 *
 * A request that was answered a moment ago is answered again without finding its endpoint, token, item and page. The answer
 * is exact, because all that it depends on is checked. The request is the key. The store must not have changed since, by
 * any process. The time must be in the same second; the end of a token is checked each time.
 */
export class PageCache {
  readonly #store: Pick<Store, "changes">;
  readonly #pages: RecentlyUsed<EncodedAnswer>;
  readonly #answered = new RecentlyUsed<RememberedAnswer>({ weight_max: requests_bytes_max });

  /** @param options.cache_bytes_max of encoded pages; 0 keeps none */
  constructor(options: { store: Pick<Store, "changes">; cache_bytes_max: number }) {
    this.#store = options.store;
    this.#pages = new RecentlyUsed({ weight_max: options.cache_bytes_max });
  }

  /** The response, where the same request has the same answer still. */
  recall(
    { request, headers, now_ms }: Pick<CachedRequest, "request" | "headers" | "now_ms">,
    authorization: Authorization,
  ): Response | undefined {
    const answered = this.#answered.get(nameOf(request, headers));
    if (answered === undefined) return undefined;
    const { mark, success, token } = answered;
    if (answered.second !== secondOf(now_ms) || answered.changes !== this.#store.changes()) return undefined;
    const page = this.#pages.get(mark);
    if (page === undefined || !authorization.stillHolds(token)) return undefined;
    return this.#send(page, { mark, success, request });
  }

  /** The response to a request, from memory where the page is there. */
  async respond(
    { request, headers, now_ms, token, accepted, changes }: CachedRequest,
    { version, read }: Repeatable & { readonly version: string },
  ): Promise<Response> {
    const found = await read((mark) => this.#pages.get(`${version} ${mark}`));
    const mark = `${version} ${found.mark}`;
    const page = "kept" in found ? found.kept : new EncodedAnswer(found.answer, mark);
    if (!("kept" in found)) this.#keep(mark, page);
    const success = successWith(page, { accepted, url: request.url, repeatable: true });
    if (changes !== undefined) {
      const name = nameOf(request, headers);
      const weight = name.length + mark.length + answered_bytes;
      this.#answered.set(name, { changes, token, mark, success, second: secondOf(now_ms) }, weight);
    }
    return this.#send(page, { mark, success, request });
  }

  /** Compresses a page at most once as long as the cache has it. */
  #send(
    page: EncodedAnswer,
    { mark, success, request }: { mark: string; success: Success; request: Request },
  ): Response {
    const before = page.bytes;
    const response = respond(success, { bytes: () => page.as(success.coding), request });
    if (page.bytes !== before) this.#keep(mark, page);
    return response;
  }

  #keep(mark: string, page: EncodedAnswer): void {
    this.#pages.set(mark, page, page.bytes + mark.length + page_bytes);
  }
}

interface RememberedAnswer {
  readonly changes: number;
  /** The whole second that it was asked in. */
  readonly second: number;
  readonly token: Token;
  readonly mark: string;
  readonly success: Success;
}

/** Everything of a request that its answer depends on, but what the client holds already; no header has a line break. */
function nameOf({ method, url }: Request, headers: string): string {
  return `${method} ${url}\n${headers}`;
}

/** The headers of a request that its answer depends on, but what the client holds already. */
export function askedWith({ headers }: Request): string {
  const names = ["authorization", "accept", "accept-encoding", usesHeader];
  return names.map((name) => headers.get(name)).join("\n");
}

function secondOf(now_ms: number): number {
  return Math.floor(now_ms / 1000);
}

const requests_bytes_max = 4 * 1024 * 1024;
/** Memory of an entry besides its name or body, estimated. */
const answered_bytes = 2_048;
const page_bytes = 1_024;
