/** Signs in with the token behind the # of a link, which no server has seen, and takes it out of the address bar; sends the form on to where the reader wanted to go. */
export function signInByLink(): void {
  const form = document.querySelector<HTMLFormElement>("form[action='/sign-in']");
  if (form === null) return;
  const next = form.elements.namedItem("next") as HTMLInputElement;
  next.value = new URLSearchParams(location.search).get("next") ?? "";
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token === null) return;
  history.replaceState(null, "", location.pathname + location.search);
  (form.elements.namedItem("token") as HTMLInputElement).value = token;
  form.requestSubmit();
}
