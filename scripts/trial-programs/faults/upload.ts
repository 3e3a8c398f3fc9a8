import { cpSync } from "node:fs";
import { join } from "node:path";
import { type LintelProcess, RunningServer } from "../../../testbed/front-door.ts";
import { inHome } from "../../../testbed/uploading.ts";
import { doors_before, doorsTo, type HomeBefore } from "./home.ts";
import {
  Broken,
  clearly,
  commandEnded,
  type End,
  endOf,
  keptIn,
  type Machine,
  type Part,
  preparedPart,
  requireSame,
  type Tried,
  warnings,
} from "./part.ts";

/** The upload of two hundred readings to a central that is well. */
export function uploadPart(home: HomeBefore): Promise<Part> {
  return nightPart(home, tryUpload);
}

/** A central that starts, takes in the upload of two hundred readings, and is stopped. */
export function centralPart(home: HomeBefore): Promise<Part> {
  return nightPart(home, tryCentral);
}

/** A home and a central that have not met, to be copied. */
interface Night {
  readonly home: string;
  readonly central: string;
  readonly tokenFile: string;
}

function nightPart(
  home: HomeBefore,
  tryOut: (machine: Machine, night: Night) => Promise<Tried>,
): Promise<Part> {
  return preparedPart(async (site, directory) => {
    const night = {
      home: home.directory,
      central: join(directory, "central"),
      tokenFile: join(directory, "token"),
    };
    const central = await site.central("--data", site.data);
    await inHome(12, site, { site, central });
    await central.stop();
    cpSync(site.data, night.central, { recursive: true });
    cpSync(join(site.directory, "upload-token"), night.tokenFile);
    return night;
  }, tryOut);
}

async function tryUpload(machine: Machine, night: Night): Promise<Tried> {
  const { site } = machine;
  const data = machine.copyOf(night.home, "data");
  const directory = join(site.directory, "central");
  cpSync(night.central, directory, { recursive: true });
  const central = await site.central("--data", directory);
  configure(machine, { data, central, night });
  const end = await machine.faulty(["upload", "--config", site.config, "--json"]).end();
  const tried = commandEnded(end);
  if (end.code === 0) requireAll(directory, "central, after an upload that went well,");
  await uploadsWell(machine);
  await central.stop();
  requireAll(directory, "central");
  requireAll(data, "the home");
  return tried;
}

async function tryCentral(machine: Machine, night: Night): Promise<Tried> {
  const { site } = machine;
  const data = join(site.directory, "data");
  cpSync(night.home, data, { recursive: true });
  const directory = machine.copyOf(night.central, "central");
  const words = ["central", "--data", directory, "--listen", "127.0.0.1", "--port", "0", "--json"];
  const { process, end } = machine.faulty(words);
  const line = await process.line();
  let upload: End | "waits" | undefined;
  if (line !== undefined) {
    configure(machine, { data, central: new RunningServer(process, JSON.parse(line)), night });
    upload = await endOrWait(site.spawn(["upload", "--config", site.config, "--json"]));
    process.kill("SIGTERM");
  }
  const ended = await end();
  const said = warnings(ended.said);
  let tried: Tried;
  if (ended.code !== 0) tried = { ended: "stopped", said: clearly(ended) };
  else if (upload !== "waits" && upload?.code === 0) tried = { ended: "healthy", said };
  else if (said === "")
    throw new Broken(`an upload failed, and central says nothing: ${JSON.stringify(upload)}`);
  else tried = { ended: "limped", said };
  if (upload !== undefined && upload !== "waits") {
    if (upload.code === 0) requireAll(directory, "central, after an upload that went well,");
    else clearly(upload);
  }
  const again = await site.central("--data", directory);
  configure(machine, { data, central: again, night });
  await uploadsWell(machine);
  const code = await again.stop();
  if (code !== 0) throw new Broken(`central ended with ${code} after a restart`);
  requireAll(directory, "central");
  return tried;
}

/** How an upload ended. Where the disk of central is full or broken it asks again with longer and longer pauses: then it is ended here. */
async function endOrWait(upload: LintelProcess): Promise<End | "waits"> {
  let waits = false;
  const timer = setInterval(() => {
    if (!/asking again in \d{2,}/.test(upload.saidByNow)) return;
    waits = true;
    upload.kill("SIGKILL");
  }, 50);
  try {
    const end = await endOf(upload);
    return waits ? "waits" : end;
  } finally {
    clearInterval(timer);
  }
}

function configure(
  { site }: Machine,
  { data, central, night }: { data: string; central: RunningServer; night: Night },
): void {
  const upload = `[home]\nid = 12\n[upload]\nurl = "${central.origin}"\ntoken_file = "${night.tokenFile}"`;
  site.configure({ data, sections: upload });
}

async function uploadsWell({ site }: Machine): Promise<void> {
  const { code, said } = await endOf(site.spawn(["upload", "--config", site.config, "--json"]));
  if (code !== 0) throw new Broken(`the next upload ended with ${code}: ${said}`);
}

function requireAll(directory: string, whose: string): void {
  requireSame(keptIn(directory).doors, doorsTo(doors_before), whose);
}
