import type { Clock } from "../clock.ts";
import { OperatorError } from "../errors.ts";
import type { Store, Token } from "../store/store.ts";
import { checkToken, type Scope } from "../token.ts";
import type { Attempts } from "./attempts.ts";
import { type ErrorName, errorTable, HttpError } from "./errors.ts";
import type { TokenUses } from "./token-uses.ts";

/** The tokens that a route is for. */
export interface Allowed {
  readonly scopes: readonly Scope[];
  /** Whether the route shows a bound read token only what it may see. Other routes refuse it. */
  readonly bound: boolean;
}

/** Lets a request through that carries a token of the right scope, and refuses every other. */
export class Authorization {
  readonly #store: Pick<Store, "token">;
  readonly #clock: Clock;
  readonly #realm: string;
  readonly #attempts: Attempts;
  readonly #uses: TokenUses;

  /** @throws OperatorError where `realm` cannot stand in a header as it is */
  constructor(options: {
    store: Pick<Store, "token">;
    clock: Clock;
    realm: string;
    attempts: Attempts;
    uses: TokenUses;
  }) {
    if (!safeRealm.test(options.realm))
      throw new OperatorError(
        `realm ${JSON.stringify(options.realm)} cannot stand in a header`,
        "set realm in [api] to at most 64 letters, digits, dots, hyphens, underscores or inner spaces",
      );
    this.#store = options.store;
    this.#clock = options.clock;
    this.#realm = options.realm;
    this.#attempts = options.attempts;
    this.#uses = options.uses;
  }

  /**
   * @param request.authorization the whole header, undefined where it is missing
   * @param request.bearer the token in it, empty where it has another form
   * @param allowed.bound whether a read token that does not see everything may pass
   * @returns the token
   * @throws HttpError 401; 429 once an address has sent too many wrong tokens. A right token always passes.
   */
  async require(
    request: { authorization: string | undefined; bearer: string | undefined; address: () => string },
    { scopes, bound }: Allowed,
  ): Promise<Token> {
    if (request.authorization === undefined) throw this.#refusal("token_missing");
    const checked = await checkToken(request.bearer ?? "", {
      find: (id) => this.#store.token(id),
      clock: this.#clock,
    });
    if ("token" in checked) {
      if (!scopes.includes(checked.token.scope)) throw this.#refusal("token_scope");
      if (checked.token.binding !== undefined && !bound) throw this.#refusal("token_bound");
      this.#uses.note(checked.token.id);
      return checked.token;
    }
    // Who shows an expired token knew its secret, and guesses nothing.
    if (checked.fault === "expired") throw this.#refusal("token_expired");
    const retry_s = this.#attempts.note(request.address());
    if (retry_s === undefined) throw this.#refusal("token_invalid");
    throw new HttpError("attempts_exceeded", { retry_s }, { "Retry-After": String(retry_s) });
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

  /** Whether a token that has passed would pass again, in a store that has not changed since. */
  stillHolds({ id, expires_ms }: Token): boolean {
    if (expires_ms !== undefined && expires_ms <= this.#clock.now().unix_ms) return false;
    this.#uses.note(id);
    return true;
  }

  #refusal(error: Extract<ErrorName, `token_${string}`>): HttpError {
    const description = errorTable[error].message;
    const challenge = `OAuth2.0 realm=${this.#realm}, error=invalid_token, error_description=${description}`;
    return new HttpError(error, {}, { "WWW-Authenticate": challenge });
  }
}

/** The form of the challenge has no quotes, so nothing may be in the realm that ends it or begins another. */
const safeRealm = /^[A-Za-z0-9._-](?:[A-Za-z0-9._ -]{0,62}[A-Za-z0-9._-])?$/;
