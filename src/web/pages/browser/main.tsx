import { type ComponentType, h, hydrate, render } from "preact";
import { browserComponents } from "../browser-components.ts";
import { PlotsContext, TonesContext } from "../parts/plots-and-tones.ts";
import type { Times } from "../time-text.ts";
import { ageing, type DatedData, follow } from "./following.ts";
import { plots, tones } from "./lazy-plots.ts";
import { leaveForToken, signIn } from "./link-sign-in.ts";
import { openPaletteByKey } from "./palette-key.ts";

/** Takes over the page that the server has sent, and gives it the data that comes later. */
const root = document.getElementById("page") as HTMLElement;
const { name, data, live } = JSON.parse(document.getElementById("shown")?.textContent ?? "{}") as {
  readonly name: keyof typeof browserComponents;
  readonly data: Times & { readonly next: string; readonly fault?: string };
  readonly live: boolean;
};
if (name !== "sign-in") openPaletteByKey();
/** Undefined of a page that stays as it was sent. */
const Page = (await browserComponents[name]?.()) as ComponentType<object> | undefined;
let open = (address: string) => location.assign(address);
const value = { ...plots, open: (address: string) => open(address) };
const pageOf = (shown: object) =>
  Page && h(PlotsContext.Provider, { value }, h(TonesContext.Provider, { value: tones }, h(Page, shown)));
const show = (shown: object) => render(pageOf(shown), root);

if (Page !== undefined) hydrate(pageOf(data), root);
if (name === "sign-in") void signIn(data, () => show({ ...data, other: true }));
else {
  leaveForToken();
  addEventListener("hashchange", leaveForToken);
}
if (live) {
  const showNewer = ageing(show, data);
  open = follow({ show: (shown) => showNewer(shown as DatedData), times: data });
}
