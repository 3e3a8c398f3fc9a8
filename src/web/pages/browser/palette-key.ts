/** Has the key `/` open a field over the page, and Escape end it. It is there at once; what finds something is loaded for it. */
export function openPaletteByKey(): void {
  document.addEventListener("keydown", (event) => {
    const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.repeat);
    const isWritten = event.target instanceof Element && event.target.matches("input, select, textarea");
    if (event.key !== "/" || !isPlain || isWritten) return;
    event.preventDefault();
    const dialog = document.createElement("dialog");
    dialog.className = "palette";
    dialog.ariaLabel = "Find";
    const input = document.createElement("input");
    input.type = "search";
    input.ariaLabel = input.placeholder = "home, device, person or page";
    dialog.append(input);
    // By itself Escape only empties a field that has something in it. The next key is for the page, not for a field that nobody sees.
    dialog.addEventListener("keydown", (pressed) => {
      if (pressed.key !== "Escape") return;
      pressed.preventDefault();
      dialog.close();
      dialog.remove();
    });
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
    void import("./palette.ts").then(({ findBeneath }) => {
      if (dialog.open) findBeneath(input, dialog);
    });
  });
}
