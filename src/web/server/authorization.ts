import type { Clock } from "../../base/clock.ts";
import { messageOf, OperatorError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { checkToken, type Scope } from "../../domain/token.ts";
import { newJournalId } from "../../store/restriction.ts";
import type { Store, Token } from "../../store/store.ts";
import { type ErrorName, errorTable, HttpError } from "./http-errors.ts";

/** The tokens that a route is for. */
export interface Allowed {
  readonly scopes: readonly Scope[];
  /** Whether the route shows a bound read token only what it may see. Other routes refuse it. */
  readonly bound: boolean;
}

/** Lets a request through that carries a token of the right scope, and refuses every other. */
export class Authorization {
  readonly #options: AuthorizationOptions;

  /** @throws OperatorError where `realm` cannot stand in a header as it is */
  constructor(options: AuthorizationOptions) {
    if (!safeRealm.test(options.realm))
      throw new OperatorError(
        `realm ${JSON.stringify(options.realm)} cannot stand in a header`,
        "set realm in [api] to at most 64 letters, digits, dots, hyphens, underscores or inner spaces",
      );
    this.#options = options;
  }

  /**
   * @param request.authorization the whole header, undefined where it is missing
   * @param request.bearer the token in it, empty where it has another form
   * @param request.use method and address, as the journal has them where the token sees what is restricted; absent: this use is noted already
   * @param allowed.bound whether a read token that does not see everything may pass
   * @returns the token
   * @throws HttpError 401; 429 once an address has sent too many wrong tokens. A right token always passes.
   */
  async require(
    request: {
      authorization: string | undefined;
      bearer: string | undefined;
      address: () => string;
      use?: (() => string) | undefined;
    },
    { scopes, bound }: Allowed,
  ): Promise<Token> {
    const { store, clock, attempts, uses } = this.#options;
    if (request.authorization === undefined) throw this.#refusal("token_missing");
    const checked = await checkToken(request.bearer ?? "", { find: (id) => store.token(id), clock });
    if ("token" in checked) {
      if (!scopes.includes(checked.token.scope)) throw this.#refusal("token_scope");
      if (checked.token.binding !== undefined && !bound) throw this.#refusal("token_bound");
      uses.note(checked.token.id);
      if (checked.token.restricted && request.use !== undefined)
        await this.#noteUse(checked.token, request.use());
      return checked.token;
    }
    // Who shows an expired token knew its secret, and guesses nothing.
    if (checked.fault === "expired") throw this.#refusal("token_expired");
    const retry_s = attempts.note(request.address());
    if (retry_s === undefined) throw this.#refusal("token_invalid");
    throw new HttpError("attempts_exceeded", { retry_s });
  }

  /** The home that a token is bound to. @throws HttpError 401 where it is bound to none */
  homeOf({ home }: Token): number {
    if (home === undefined) throw this.#refusal("token_homeless");
    return home;
  }

  /** Refuses a token that is bound to another home. @throws HttpError 401 */
  requireHome(token: Token, home: number): void {
    if (token.home !== undefined && token.home !== home) throw this.#refusal("token_scope");
  }

  /** Keeps that what is restricted may have been seen, before anything is answered. */
  async #noteUse({ id, name }: Token, words: string): Promise<void> {
    const { store, clock } = this.#options;
    const who = `${name} (token ${id})`;
    await store.noteInJournal({ id: newJournalId(), at_ms: clock.now().unix_ms, act: "use", who, words });
  }

  /** Whether a token that has passed would pass again without anything to note, in a store that has not changed since. */
  stillHolds({ id, expires_ms, restricted }: Token): boolean {
    const { clock, uses } = this.#options;
    if (restricted) return false;
    if (expires_ms !== undefined && expires_ms <= clock.now().unix_ms) return false;
    uses.note(id);
    return true;
  }

  #refusal(error: Extract<ErrorName, `token_${string}`>): HttpError {
    const description = errorTable[error].message;
    const challenge = `OAuth2.0 realm=${this.#options.realm}, error=invalid_token, error_description=${description}`;
    return new HttpError(error, {}, { "WWW-Authenticate": challenge });
  }
}

interface AuthorizationOptions {
  readonly store: Pick<Store, "token" | "noteInJournal">;
  readonly clock: Clock;
  readonly realm: string;
  readonly attempts: Attempts;
  readonly uses: TokenUses;
}

/** The form of the challenge has no quotes, so nothing may be in the realm that ends it or begins another. */
const safeRealm = /^[A-Za-z0-9._-](?:[A-Za-z0-9._ -]{0,62}[A-Za-z0-9._-])?$/;

/**
 * Counts wrong tokens per address, so that guessing is slow and one address's mistakes are no other's. An
 * IPv6 address counts as its /64, which is what one household or host has.
 */
export class Attempts {
  readonly #options: { readonly clock: Clock; readonly attempts_max: number; readonly addresses_max: number };
  /** In order of the last attempt: the first is the one to forget when there are too many. */
  readonly #windows = new Map<string, { readonly since_ms: number; count: number }>();

  constructor(options: { clock: Clock; attempts_max: number; addresses_max: number }) {
    this.#options = options;
  }

  /**
   * Notes a wrong token from `address`. Answers how many seconds remain until its next attempt counts afresh,
   * or undefined while it is within the bound of `attempts_max` a minute.
   */
  note(address: string): number | undefined {
    const key = networkOf(address);
    const { clock, attempts_max } = this.#options;
    const now_ms = clock.now().monotonic_ms;
    const known = this.#windows.get(key);
    const current = known !== undefined && now_ms - known.since_ms < window_ms;
    const window = current ? known : { since_ms: now_ms, count: 0 };
    window.count += 1;
    this.#windows.delete(key);
    this.#windows.set(key, window);
    this.#forgetOldest();
    if (window.count <= attempts_max) return undefined;
    return Math.max(1, Math.ceil((window.since_ms + window_ms - now_ms) / 1000));
  }

  #forgetOldest(): void {
    if (this.#windows.size <= this.#options.addresses_max) return;
    const oldest = this.#windows.keys().next();
    if (!oldest.done) this.#windows.delete(oldest.value);
  }
}

const window_ms = 60_000;

/** An IPv4 address itself, also one written within IPv6; the first 64 bits of an IPv6 address. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(":")) return address;
  const [head = "", tail] = address.toLowerCase().split("%")[0]?.split("::") ?? [];
  const before = head === "" ? [] : head.split(":");
  const after = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...new Array<string>(zeros).fill("0"), ...after];
  return `${groups.slice(0, 4).join(":")}::/64`;
}

/**
 * When tokens were last used, gathered in memory and written once a minute, so that a request costs no
 * write. A crash loses at most a minute of it.
 */
export class TokenUses {
  readonly #options: TokenUsesOptions;
  #used = new Map<string, number>();
  #cancel: (() => void) | undefined;

  constructor(options: TokenUsesOptions) {
    this.#options = options;
  }

  note(id: string): void {
    if (this.#used.size >= tokens_max && !this.#used.has(id)) return;
    const { clock } = this.#options;
    this.#used.set(id, clock.now().unix_ms);
    this.#cancel ??= clock.after(flush_ms, () => {
      this.#cancel = undefined;
      void this.flush();
    });
  }

  /** Writes the gathered uses, now. Uses that cannot be written are kept for the next time. */
  async flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = undefined;
    if (this.#used.size === 0) return;
    const used = this.#used;
    this.#used = new Map();
    const { store, log } = this.#options;
    try {
      await store.noteTokenUse(used);
    } catch (thrown) {
      log.warn(`when tokens were last used could not be kept: ${messageOf(thrown)}`);
      this.#used = new Map([...used, ...this.#used]);
    }
  }
}

interface TokenUsesOptions {
  readonly store: Pick<Store, "noteTokenUse">;
  readonly clock: Clock;
  readonly log: Log;
}

const flush_ms = 60_000;

/** More tokens than this in one minute: the first ones are noted. */
const tokens_max = 10_000;
