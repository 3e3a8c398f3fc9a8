/**
 * Signs in with the token behind the # of a link, which no server has seen. Who is signed in already is asked first, and who came without a token is sent on:
 * browsers keep a session to themselves when a link of another site is followed.
 *
 * @param askFirst shows the way in to somebody who is signed in already
 */
export async function signIn(data: { next: string; fault?: string }, askFirst: () => void): Promise<void> {
  const token = takeToken();
  const form = document.querySelector<HTMLFormElement>("form[action='/sign-in']");
  if (form === null) return;
  if (token === undefined) {
    if (data.fault === undefined && (await isSignedIn())) location.replace(data.next);
    return;
  }
  (form.elements.namedItem("token") as HTMLInputElement).value = token;
  if (await isSignedIn()) askFirst();
  else form.requestSubmit();
}

/** Takes a link with a token to the way in, from whatever page it was opened on. */
export function leaveForToken(): void {
  if (tokenInAddress() !== null) location.replace(`/sign-in${location.hash}`);
}

/** The token of the address, which is gone from the address bar and its history with this. */
function takeToken(): string | undefined {
  const token = tokenInAddress();
  if (token === null) return undefined;
  history.replaceState(null, "", location.pathname + location.search);
  return token;
}

function tokenInAddress(): string | null {
  return new URLSearchParams(location.hash.slice(1)).get("token");
}

async function isSignedIn(): Promise<boolean> {
  try {
    return (await (await fetch("/session")).json()).signed_in === true;
  } catch {
    // A server that cannot answer now says so when the form is sent.
    return false;
  }
}
