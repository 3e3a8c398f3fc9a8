/** The way in: a token of `lintel token create`, or a link that has one. */
export function SignInPage({ fault }: { fault?: SignInFault }) {
  return (
    <main class="sign-in">
      <h1>Sign in</h1>
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" />
        <label for="token">Access token</label>
        <input
          id="token"
          name="token"
          type="password"
          autocomplete="current-password"
          required
          aria-describedby="help"
          aria-invalid={fault !== undefined}
        />
        {fault === undefined ? null : (
          <p class="fault" role="alert">
            {faults[fault]}
          </p>
        )}
        <button type="submit">Sign in</button>
        <p id="help">
          A token is made with <code>lintel token create NAME --link</code>, which also prints a link that
          signs in by itself.
        </p>
      </form>
    </main>
  );
}

/** Why a token does not sign in. */
export type SignInFault = "invalid" | "expired" | "scope";

const faults: Readonly<Record<SignInFault, string>> = {
  invalid: "This is no token that holds here: it was mistyped, revoked, or made for another server.",
  expired: "This token has expired. Whoever gave it to you can make another one.",
  scope: "This token is for uploads. Pages are shown to tokens that may read, or administer.",
};
