/** Has the key `/` open a field over the page. It is there at once; what finds something is loaded for it. */
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
    document.body.append(dialog);
    dialog.showModal();
    void import("./palette.ts").then(({ findBeneath }) => findBeneath(input, dialog));
  });
}
