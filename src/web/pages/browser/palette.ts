/** Has a field show what `/find` shows for the words in it. Arrows go through what was found, and Enter opens the first. */
export function findBeneath(input: HTMLInputElement, dialog: HTMLDialogElement): void {
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  const found = document.createElement("div");
  dialog.append(said, found);

  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const address = `/find?${new URLSearchParams({ q: input.value })}`;
    try {
      const answer = await fetch(address, { signal: asking.signal });
      // Whoever has been signed out is asked to sign in.
      if (answer.redirected) return location.assign(address);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const newer = page.querySelector(".found");
      if (newer === null) return askAgain();
      said.textContent = page.querySelector("h1")?.textContent ?? "";
      const chosen = document.activeElement?.closest<HTMLAnchorElement>(".found a");
      found.replaceChildren(newer);
      // Whoever has gone on to what was found stays there, or is back at the field.
      if (chosen)
        ([...found.querySelectorAll("a")].find(({ href }) => href === chosen.href) ?? input).focus();
    } catch (thrown) {
      if (!(thrown instanceof DOMException && thrown.name === "AbortError")) askAgain();
    }
  };
  const askAgain = () => {
    said.textContent = "The server does not answer. It is asked again.";
    timer = setTimeout(ask, again_ms);
  };
  const askSoon = () => {
    clearTimeout(timer);
    timer = setTimeout(ask, settle_ms);
  };
  input.addEventListener("input", askSoon);
  // Somebody may have written before this was loaded.
  if (input.value !== "") askSoon();
  dialog.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    const place = links.indexOf(document.activeElement as HTMLAnchorElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) (links[place + step] ?? input).focus();
    else if (event.key === "Enter" && place < 0) links[0]?.click();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    asking?.abort();
  });
}

/** Letters that follow each other so quickly are asked for once. */
const settle_ms = 120;
/** A server that is busy, or starts again. */
const again_ms = 3_000;
