import { readdirSync, readFileSync } from "node:fs";
import { extname, join, normalize } from "node:path";

const directory = normalize(join(import.meta.dir, "../../systemd"));

/** Where a file of systemd/ lies in a package, by the ending of its name. */
const places: Readonly<Record<string, (name: string) => string>> = {
  ".service": (name) => `usr/lib/systemd/system/${name}`,
  ".timer": (name) => `usr/lib/systemd/system/${name}`,
  ".path": (name) => `usr/lib/systemd/system/${name}`,
  ".sysusers": (name) => `usr/lib/sysusers.d/${name.replace(".sysusers", ".conf")}`,
  ".tmpfiles": (name) => `usr/lib/tmpfiles.d/${name.replace(".tmpfiles", ".conf")}`,
};

/** The files of systemd/ as a package has them, by their paths in it: what names a checkout names what is installed. */
export function installedUnits(): Map<string, string> {
  return new Map(
    readdirSync(directory)
      .sort()
      .flatMap((name) => {
        const place = places[extname(name)];
        return place === undefined
          ? []
          : [[place(name), asInstalled(readFileSync(join(directory, name), "utf8"))]];
      }),
  );
}

function asInstalled(text: string): string {
  const installed = text
    .replaceAll("/opt/lintel/scripts/lintel", "/usr/bin/lintel")
    .replaceAll("file:/opt/lintel/", "file:/usr/share/doc/lintel/");
  const left = /.*\/opt\/.*/.exec(installed);
  if (left !== null) throw new Error(`a unit of the package would name a checkout: ${left[0]}`);
  return installed;
}
