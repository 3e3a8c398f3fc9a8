import type { Authorization } from "../http/authorization.ts";
import type { Exchange } from "../http/exchange.ts";
import type { Store } from "../store/store.ts";
import type { Token } from "../token.ts";
import type { PageCache } from "./page-cache.ts";
import { RecentlyUsed } from "./recently-used.ts";
import { respond, type Success } from "./success.ts";

/**
 * Requests for pages that were answered a moment ago, so that the same request is answered without finding its
 * endpoint, token, item and page again. An answer is exact, because all that it depends on is checked. The request is
 * the key. The store must not have changed since, by any process. The time must be in the same second; the end of a
 * token is checked each time.
 */
export class Recall {
  readonly #store: Store;
  readonly #authorization: Authorization;
  readonly #pages: PageCache;
  readonly #answered = new RecentlyUsed<Answered>({ weight_max: requests_bytes_max });

  constructor(options: { store: Store; authorization: Authorization; pages: PageCache }) {
    this.#store = options.store;
    this.#authorization = options.authorization;
    this.#pages = options.pages;
  }

  /** The response, where the same request has the same answer still. */
  respond(exchange: Exchange): Response | undefined {
    const answered = this.#answered.get(nameOf(exchange));
    if (answered === undefined) return undefined;
    const { mark, success, token } = answered;
    if (answered.second !== secondOf(exchange) || answered.changes !== this.#store.changes())
      return undefined;
    const page = this.#pages.get(mark);
    if (page === undefined || !this.#authorization.stillHolds(token)) return undefined;
    const bytes = () => this.#pages.bytesOf(mark, page, success.coding);
    return respond(success, { bytes, ifNoneMatch: exchange.ifNoneMatch });
  }

  /** @param answered.changes what the store answered before anything was read for this */
  keep(exchange: Exchange, answered: Omit<Answered, "second" | "changes"> & { changes: number | undefined }) {
    const { changes } = answered;
    if (changes === undefined) return;
    const name = nameOf(exchange);
    const weight = name.length + answered.mark.length + entry_bytes;
    this.#answered.set(name, { ...answered, changes, second: secondOf(exchange) }, weight);
  }
}

interface Answered {
  readonly changes: number;
  /** The whole second that it was asked in. */
  readonly second: number;
  readonly token: Token;
  readonly mark: string;
  readonly success: Success;
}

/** Everything of a request that its answer depends on, but what the client holds already; no header has a line break. */
function nameOf({ method, url, authorization, accept, acceptEncoding }: Exchange): string {
  return `${method} ${url}\n${authorization}\n${accept}\n${acceptEncoding}`;
}

function secondOf({ now_ms }: Exchange): number {
  return Math.floor(now_ms / 1000);
}

const requests_bytes_max = 4 * 1024 * 1024;
/** Memory of an entry besides its name, estimated. */
const entry_bytes = 2_048;
