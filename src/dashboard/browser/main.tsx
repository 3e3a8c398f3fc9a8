import { type ComponentType, h, hydrate, render } from "preact";
import { components } from "../components.ts";
import { follow } from "./follow.ts";
import { leaveForToken, signIn } from "./sign-in.ts";

/** Takes over the page that the server has sent, and gives it the data that comes later. */
const root = document.getElementById("page") as HTMLElement;
const { name, data, live } = JSON.parse(document.getElementById("shown")?.textContent ?? "{}") as {
  readonly name: keyof typeof components;
  readonly data: { readonly locale: string; readonly next: string; readonly fault?: string };
  readonly live: boolean;
};
const Page = components[name] as ComponentType<object>;
const show = (shown: object) => render(h(Page, shown), root);

hydrate(h(Page, data), root);
if (name === "sign-in") void signIn(data, () => show({ ...data, other: true }));
else {
  leaveForToken();
  addEventListener("hashchange", leaveForToken);
}
if (live) follow({ show, locale: data.locale });
