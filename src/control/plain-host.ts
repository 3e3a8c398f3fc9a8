import type { Host } from "../../drivers/driver.ts";
import { plainWords } from "../plain-text.ts";

/** A host that gets every text of its driver as one plain line: devices and their makers write what they like into names and models. */
export function plainHost(host: Host): Host {
  const services = Object.entries(host).map(([name, service]) => [
    name,
    typeof service === "function"
      ? (...said: readonly unknown[]) => service.apply(host, said.map(plainWords))
      : service,
  ]);
  return Object.fromEntries(services);
}
