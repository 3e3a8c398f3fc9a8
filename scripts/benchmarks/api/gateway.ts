import { type MachineSize, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { residentOf } from "./process-usage.ts";

/** `lintel run`, as people start it, on a data directory that is there already. */
export class Gateway implements AsyncDisposable {
  readonly port: number;

  protected constructor(
    protected readonly site: Site,
    protected readonly server: RunningServer,
    readonly token: string,
  ) {
    this.port = Number(new URL(server.url).port);
  }

  /** @param machine that it takes its machine for; absent: this one */
  static async start(data: string, machine?: MachineSize): Promise<Gateway> {
    const site = new Site({ data, machine });
    site.configure();
    const token = await site.token();
    return new Gateway(site, await site.run(), token);
  }

  /** The same, with a Zigbee sensor of this address that sends so many notifications a second. */
  static async hearing(data: string, { ieee, per_s }: { ieee: string; per_s: number }): Promise<Gateway> {
    const site = new Site({ data });
    const stick = await site.simulator("zigbee");
    site.configure({ sections: `[zigbee]\nport = "${stick.path}"\nadapter = "zstack"` });
    const token = await site.token();
    const server = await site.run();
    await site.listening();
    const pair = site.spawn(["pair", "--seconds", "60", "--json", "--data", site.data]);
    await pair.line();
    await stick.tell({ do: "add", model: "3041", ieee });
    await stick.tell({ do: "join", ieee });
    const joined = await pair.line();
    if (joined?.includes('"joined"') !== true) throw new Error(`the sensor did not join: ${joined}`);
    pair.kill("SIGINT");
    await pair.exited;
    await stick.tell({ do: "report", ieee, every_ms: 1000 / per_s });
    return new Gateway(site, server, token);
  }

  /** The text of a GET request for a path below the version, with further header lines. */
  get(path: string, headers = ""): string {
    const fixed = `Host: 127.0.0.1:${this.port}\r\nAuthorization: bearer ${this.token}\r\nAccept: application/json\r\n`;
    return `GET /v0.9${path} HTTP/1.1\r\n${fixed}${headers}\r\n`;
  }

  /** Asks once; the path begins after the version. */
  ask(path: string): Promise<Response> {
    return this.server.get(path, this.token);
  }

  get pid(): number {
    return this.server.process.pid;
  }

  resident_mb(): number {
    return residentOf(this.pid);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server.stop();
    await this.site.remove();
  }
}
