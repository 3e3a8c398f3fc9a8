import { type ComponentType, h, hydrate, render } from "preact";
import { components } from "../components.ts";
import { signInByLink } from "./sign-in.ts";

/** Takes over the page that the server has sent, and gives it the data that comes later. */
const root = document.getElementById("page") as HTMLElement;
const { name, data, live } = JSON.parse(document.getElementById("shown")?.textContent ?? "{}") as {
  readonly name: keyof typeof components;
  readonly data: object;
  readonly live: boolean;
};
const Page = components[name] as ComponentType<object>;

hydrate(h(Page, data), root);
if (name === "sign-in") signInByLink();
if (live) follow();

/** Shows the page anew with each message; the browser connects again by itself where the connection is lost. */
function follow(): void {
  const { pathname, search } = location;
  const source = new EventSource(`/live${pathname === "/" ? "" : pathname}${search}`);
  source.addEventListener("message", (event) => render(h(Page, JSON.parse(event.data)), root));
  source.addEventListener("ended", () => {
    source.close();
    setTimeout(() => location.reload(), ended_ms);
  });
}

/** A server that has just started again is given so long. */
const ended_ms = 2_000;
