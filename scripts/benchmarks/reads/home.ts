import { join } from "node:path";
import { lintel, type RunningServer, Site } from "../../../testbed/front-door.ts";
import { inHome } from "../../../testbed/uploading.ts";
import { addressOf, type Data } from "../api/data.ts";
import { StickHome } from "../stick/home.ts";
import type { Asked, Asking } from "./asking.ts";

/**
 * A gateway with a large database and its sensors, its clients, and the central that it uploads to. The box has one core: the gateway, and the upload with the
 * priority that its unit gives it. The world has another: the stick, the clients, and what they leave of it for central.
 */
export class MeasuredHome {
  #asked = 0;

  private constructor(
    readonly stick: StickHome,
    private readonly data: Data,
    private readonly box: readonly string[],
  ) {}

  /** @param slow whether each synchronisation of the box takes 100 ms more, as on a slow SD card */
  static async start(data: Data, { slow }: { slow: boolean }): Promise<MeasuredHome> {
    Bun.spawnSync(["taskset", "-a", "-c", "-p", world_core, String(process.pid)]);
    const box = ["taskset", "-c", box_core, ...(slow ? ["env", `LD_PRELOAD=${slowCard(data.store)}`] : [])];
    const site = new Site({ data: data.store, program: [...box, lintel] });
    const stick = await StickHome.start(data.items, {
      site,
      sections: "[home]\nid = 1",
      ieeeOf: (index) => addressOf(index + 1),
    });
    return new MeasuredHome(stick, data, box);
  }

  /** Starts the clients; the call that it answers ends them, and has what they asked. */
  ask(per_s: number): () => Promise<Asked[]> {
    const { pages, items } = this.data;
    const asking: Asking = {
      ...{ port: Number(new URL(this.stick.gateway.url).port), token: this.stick.token },
      ...{ per_s, items, pages: pages.slice(0, pages_max), first: this.#asked },
    };
    const clients = Bun.spawn(
      [process.execPath, join(import.meta.dir, "asking.ts"), JSON.stringify(asking)],
      {
        stdin: "pipe",
        stderr: "inherit",
      },
    );
    const printed = new Response(clients.stdout).text();
    return async () => {
      clients.stdin.end();
      if ((await clients.exited) !== 0) throw new Error("the clients were not answered");
      const asked: Asked[] = JSON.parse(await printed);
      this.#asked += asked.length;
      return asked;
    };
  }

  /** A central that has nothing yet. */
  async central(): Promise<MeasuredCentral> {
    const office = new Site({ program: [...beside, lintel] });
    const central = await office.central("--data", office.data);
    const uploads = new Site({ data: this.data.store, program: [...asUnit, ...this.box, lintel] });
    uploads.configure({ sections: await inHome(1, uploads, { site: office, central }) });
    return new MeasuredCentral(office, central, uploads);
  }

  close(): Promise<number> {
    return this.stick.close();
  }
}

/** The library that makes a disk slow, compiled beside a data directory. */
function slowCard(beside: string): string {
  const library = `${beside}.card.so`;
  const made = Bun.spawnSync([
    "cc",
    "-shared",
    "-fPIC",
    "-O2",
    "-o",
    library,
    join(import.meta.dir, "card.c"),
    "-ldl",
  ]);
  if (!made.success) throw new Error(`card.c could not be compiled: ${made.stderr.toString().trim()}`);
  return library;
}

/** Central, and what a box sends its readings with. */
export class MeasuredCentral {
  constructor(
    private readonly office: Site,
    private readonly central: RunningServer,
    private readonly uploads: Site,
  ) {}

  /** One upload, to its end: how many readings it sent. */
  async upload(): Promise<number> {
    const { sent } = await this.uploads.answer("upload", "--json", "--config", this.uploads.config);
    return sent;
  }

  async close(): Promise<void> {
    await this.central.stop();
    await this.uploads.remove();
    await this.office.remove();
  }
}

const box_core = "0";
const world_core = "1";
/** As systemd/lintel-upload.service has it: CPUWeight=10 between services is what Nice=10 is within a session, as here. */
const asUnit = ["nice", "-n", "10", "ionice", "-c", "3"];
const beside = ["nice", "-n", "19"];
/** As many as go on a command line. */
const pages_max = 1_000;
