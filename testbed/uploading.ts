import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RunningServer, Site } from "./front-door.ts";

/** Central as a process, with the site that it runs on. */
export interface Programme {
  readonly site: Site;
  readonly central: RunningServer;
}

/** The sections of a gateway's configuration that put it into a home and have it upload to central. */
export async function inHome(home: number, site: Site, { site: at, central }: Programme): Promise<string> {
  const tokenFile = join(site.directory, "upload-token");
  writeFileSync(tokenFile, await at.token("--scope", "sync", "--home", String(home)), { mode: 0o640 });
  return `[home]\nid = ${home}\n[upload]\nurl = "${central.origin}"\ntoken_file = "${tokenFile}"`;
}
