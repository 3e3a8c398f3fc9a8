/** Has the key `/` open a field over the page that finds homes, devices, people and pages. */
export function openPaletteByKey(): void {
  document.addEventListener("keydown", (event) => {
    const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.repeat);
    const isWritten = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.key !== "/" || !isPlain || isWritten) return;
    event.preventDefault();
    openPalette();
  });
}

/** Shows what `/find` shows. Arrows go through what was found, Enter opens the first, and Escape ends it. */
function openPalette(): void {
  const dialog = document.createElement("dialog");
  dialog.className = "palette find";
  dialog.setAttribute("aria-label", "Find");
  const input = document.createElement("input");
  input.type = "search";
  input.maxLength = 100;
  input.setAttribute("aria-label", "Find a home, a device, a person or a page");
  input.placeholder = "home, device, person or page";
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  const found = document.createElement("div");
  dialog.append(input, said, found);
  document.body.append(dialog);

  let timer: ReturnType<typeof setTimeout> | undefined;
  let asking: AbortController | undefined;
  const ask = async () => {
    asking?.abort();
    asking = new AbortController();
    const address = `/find?${new URLSearchParams({ q: input.value })}`;
    try {
      const answer = await fetch(address, { signal: asking.signal });
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const newer = page.querySelector(".found");
      // Whoever has been signed out is asked to sign in.
      if (newer === null) return location.assign(address);
      said.textContent = page.querySelector("h1")?.textContent ?? "";
      found.replaceChildren(newer);
    } catch (thrown) {
      if (!(thrown instanceof DOMException && thrown.name === "AbortError"))
        said.textContent = "The server does not answer. Try again.";
    }
  };
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(ask, settle_ms);
  });
  dialog.addEventListener("keydown", (event) => {
    const links = [...found.querySelectorAll("a")];
    const place = links.indexOf(document.activeElement as HTMLAnchorElement);
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) (links[place + step] ?? input).focus();
    else if (event.key === "Enter" && place < 0) links[0]?.click();
    // By itself it only empties a field that has something in it.
    else if (event.key === "Escape") dialog.close();
    else return;
    event.preventDefault();
  });
  dialog.addEventListener("close", () => {
    clearTimeout(timer);
    asking?.abort();
    dialog.remove();
  });
  dialog.showModal();
}

/** Letters that follow each other so quickly are asked for once. */
const settle_ms = 120;
