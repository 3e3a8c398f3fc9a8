import { CommandText } from "../parts/command-text.tsx";
import { faultTexts, type SignIn } from "./sign-in-faults.ts";

/**
 * The sign-in page, for a token of `lintel token create` or a link with one.
 *
 * @param props.other whether a person who is already signed in has opened a link with another token
 */
export function SignInPage({ fault, next, other = false }: SignIn & { other?: boolean }) {
  return (
    <main class="sign-in">
      <h1>Sign in</h1>
      <form method="post" action="/sign-in">
        <input type="hidden" name="next" value={next} />
        {other ? (
          <p role="status">
            You are signed in here already. This link has another token. Do you want to sign in with that one
            instead?
          </p>
        ) : null}
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
            {faultTexts[fault]}
          </p>
        )}
        <button type="submit">Sign in</button>
        {other ? (
          <p>
            <a href={next}>Stay signed in as before</a>
          </p>
        ) : null}
        <p id="help">
          Ask the person who looks after this server for a token, or for a link that signs you in. They make
          both with{" "}
          <code>
            <CommandText>lintel token create NAME --link</CommandText>
          </code>
          .
        </p>
      </form>
    </main>
  );
}
