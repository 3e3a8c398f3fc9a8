import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { Liar, type LieName, lies, Peak } from "./liar.ts";

/** Requests at which a server may lie, by the command that asks; `pull` is `lintel central` that reads a gateway. */
export const requests = {
  "upload: report": /^POST \/sync\/v1\/report /,
  "upload: batches": /^POST \/sync\/v1\/batches /,
  "upload: roster": /^GET \/sync\/v1\/roster /,
  "upload: backups": /^PUT \/sync\/v1\/backups /,
  "verify: verify": /^POST \/sync\/v1\/verify /,
  "restore: roster": /^GET \/sync\/v1\/roster /,
  "restore: backups": /^GET \/sync\/v1\/backups /,
  "restore: history": /^GET \/sync\/v1\/history\?/,
  "fetch: epochs": /^GET \/v0.9\/epochs /,
  "fetch: inventory": /^GET \/v0.9\/inventory\//,
  "fetch: events": /^GET \/v0.9\/items\/wirelesssensors\/[^/]+\/events\?/,
  "pull: report": /^GET \/sync\/v1\/report\?/,
  "pull: backups": /^GET \/sync\/v1\/backups /,
  "pull: batches": /^GET \/sync\/v1\/batches\?/,
  "pull: digests": /^GET \/sync\/v1\/digests\?/,
} as const;

export type RequestName = keyof typeof requests;
type CommandName = "upload" | "verify" | "restore" | "fetch" | "pull";

/** How a command ended that was lied to. */
export interface Ending {
  /** How often it was told the lie. */
  readonly told: number;
  /** The most memory that it had. */
  readonly peak_mb: number;
  /** The last line that it said; a central goes on after it. */
  readonly said: string;
  readonly code: number;
  /** The server, as the line should name it. */
  readonly host: string;
}

/** A gateway with readings of two days and a central, both honest, and commands that reach them by way of a liar. */
export class LiedTo {
  readonly #site: Site;
  readonly #gateway: RunningServer;
  readonly #central: RunningServer;
  readonly #tokens: Readonly<Record<CommandName, string>>;
  #places = 0;

  private constructor(of: {
    site: Site;
    gateway: RunningServer;
    central: RunningServer;
    tokens: Readonly<Record<CommandName, string>>;
  }) {
    this.#site = of.site;
    this.#gateway = of.gateway;
    this.#central = of.central;
    this.#tokens = of.tokens;
  }

  static async start(): Promise<LiedTo> {
    const site = new Site();
    const demo = ["demo", "--port", "0", "--central-port", "0", "--days", "2", "--data", site.data, "--json"];
    await (await site.serve(demo)).stop();
    // What is lied to a box stays in its store, and is not to be served to others.
    cpSync(site.data, join(site.directory, "box"), { recursive: true });
    site.configure({ sections: `[home]\nid = ${home}` });
    const programme = join(site.directory, "programme");
    const gateway = await site.run();
    const central = await site.central("--data", programme);
    const tokenFile = async (name: string, ...words: string[]) => {
      const { token } = await site.answer("token", "create", name, "--new", "--json", ...words);
      const path = join(site.directory, `token-${name}`);
      writeFileSync(path, token, { mode: 0o600 });
      return path;
    };
    const sync = ["--scope", "sync", "--home", String(home)];
    const upload = await tokenFile("upload", ...sync, "--data", programme);
    const fetch = await tokenFile("fetch", "--data", site.data);
    const pull = await tokenFile("pull", ...sync, "--data", site.data);
    const tokens = { upload, verify: upload, restore: upload, fetch, pull };
    return new LiedTo({ site, gateway, central, tokens });
  }

  /** Has the server of a command lie at a request. */
  async tell(request: RequestName, name: LieName): Promise<Ending> {
    const command = request.split(":")[0] as CommandName;
    const honest = command === "fetch" || command === "pull" ? this.#gateway : this.#central;
    await using liar = await Liar.start(honest.origin, requests[request], lies[name]());
    const { host } = liar;
    const process = this.#site.spawn(this.#words(command, liar));
    using peak = new Peak(process);
    const exited = process.exited.then((code) => ({ code }));
    const saying = command === "pull" ? eventually(() => lineOf(process.saidByNow, host), name) : exited;
    await Promise.race([saying, exited]);
    const said = process.saidByNow.trim().split("\n").at(-1) ?? "";
    const peak_mb = peak.look();
    if (command === "pull") process.kill("SIGTERM");
    const { code } = await exited;
    return { told: liar.told, peak_mb, said, code, host };
  }

  async remove(): Promise<void> {
    await this.#site.remove();
  }

  #words(command: CommandName, { origin }: Liar): string[] {
    this.#places += 1;
    const place = join(this.#site.directory, `place-${this.#places}`);
    const tokenFile = this.#tokens[command];
    const asked = ["--token-file", tokenFile, "--url", origin];
    switch (command) {
      case "upload":
      case "verify":
        return [command, "--data", join(this.#site.directory, "box"), ...asked];
      case "restore":
        return [command, "--from-central", "--data", place, ...asked];
      case "fetch":
        return [command, "--output", place, ...asked];
      case "pull": {
        const list = `${place}.toml`;
        writeFileSync(list, `[[gateway]]\nhome = ${home}\nurl = "${origin}"\ntoken_file = "${tokenFile}"\n`);
        return [
          "central",
          "--listen",
          "127.0.0.1",
          "--port",
          "0",
          "--json",
          "--data",
          place,
          "--gateways",
          list,
        ];
      }
    }
  }
}

/** The line of a log that names a server as one that cannot be read. */
function lineOf(said: string, host: string): string | undefined {
  return said.split("\n").find((line) => line.includes(" warn ") && line.includes(host));
}

const home = 1;
