import { readFileSync } from "node:fs";
import { Site } from "../../../testbed/front-door.ts";
import { Gateway } from "../api/gateway.ts";

/** `lintel run`, as people start it, on a data directory that is there already, and somebody who may look at its pages. */
export class PagesGateway extends Gateway {
  static override async start(data: string): Promise<PagesGateway> {
    const site = new Site({ data });
    site.configure();
    const token = await site.token();
    return new PagesGateway(site, await site.run(), token);
  }

  get origin(): string {
    return this.server.origin;
  }

  /** Asks as a browser does, with the session of who is signed in. */
  override async ask(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    const cookie = `lintel-${new URL(this.origin).port}=${this.token}`;
    const response = await fetch(this.origin + path, {
      headers: { accept: "text/html", cookie, ...headers },
      redirect: "manual",
    });
    if (response.status !== 200) throw new Error(`${path} is answered with ${response.status}`);
    return response;
  }

  /** Milliseconds of processor time that it has taken, of all its threads. */
  processor_ms(): number {
    const stat = readFileSync(`/proc/${this.server.process.pid}/stat`, "utf8");
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return (user + system) * tick_ms;
  }
}

/** USER_HZ of Linux is 100 on every machine that this runs on. */
const tick_ms = 10;
