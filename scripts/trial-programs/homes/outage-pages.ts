import type { UploadingHome } from "./outage-home.ts";

interface Event {
  readonly stamp: number;
  readonly event: number;
}

/** Pages of the sensor of each home, as a researcher reads them. */
export class Pages {
  readonly #origin: string;
  readonly #token: string;
  readonly #names = new Map<string, string>();
  /** Pages that were refused for now, and answers of any other kind. */
  refused = 0;
  readonly faults: string[] = [];

  constructor(options: { origin: string; token: string }) {
    this.#origin = options.origin;
    this.#token = options.token;
  }

  /** Reads the newest page of one home after the other until `ended`; `onRead` is called for each that was served. */
  async read(
    ended: () => boolean,
    homes: readonly UploadingHome[],
    onRead: (home: UploadingHome) => void,
  ): Promise<void> {
    while (!ended()) {
      const home = homes[Math.floor(Math.random() * homes.length)] as UploadingHome;
      const name = await this.#nameOf(home);
      if (name === undefined) continue;
      const response = await this.#ask(`/items/wirelesssensors/${name}/events?limit=100`);
      if (response?.status === 200) onRead(home);
      else this.refused += 1;
      await Bun.sleep(pause_ms);
    }
  }

  /** Every event of every home. */
  async all(homes: readonly UploadingHome[]): Promise<Map<number, Event[]>> {
    const served = new Map<number, Event[]>();
    for (const home of homes) {
      const events: Event[] = [];
      let path: string | undefined = `/items/wirelesssensors/${await this.#nameOf(home)}/events?limit=1000`;
      while (path !== undefined) {
        const response = await this.#ask(path);
        if (response?.status !== 200) throw new Error(`${path}: ${response?.status}`);
        events.push(...((await response.json()) as Event[]));
        const next = /<([^>]*)>; rel="next"/.exec(response.headers.get("link") ?? "")?.[1];
        path = next === undefined ? undefined : new URL(next, response.url).href;
      }
      served.set(home.home, events);
    }
    return served;
  }

  async #nameOf({ address }: UploadingHome): Promise<string | undefined> {
    const known = this.#names.get(address);
    if (known !== undefined) return known;
    const response = await this.#ask("/inventory/wirelesssensors?limit=1000");
    if (response?.status === 200)
      for (const { itemname, macaddress } of (await response.json()) as Item[])
        this.#names.set(macaddress.toLowerCase(), itemname);
    return this.#names.get(address);
  }

  async #ask(path: string): Promise<Response | undefined> {
    const url = path.startsWith("http") ? path : `${this.#origin}/v0.9${path}`;
    const headers = { authorization: `bearer ${this.#token}`, accept: "application/json" };
    const response = await fetch(url, { headers }).catch(() => undefined);
    if (response !== undefined && ![200, 503].includes(response.status))
      this.faults.push(`${path}: ${response.status} ${await response.clone().text()}`);
    return response;
  }
}

/** Of a reader, between two pages. */
const pause_ms = 20;

interface Item {
  readonly itemname: string;
  readonly macaddress: string;
}
