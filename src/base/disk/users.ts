import { readIfThere } from "./safe-files.ts";

/** Name of the user who runs this, or their number. */
export function userName(): string {
  const uid = process.getuid?.() ?? 0;
  return new RegExp(`^([^:]+):[^:]*:${uid}:`, "m").exec(users())?.[1] ?? `${uid}`;
}

/** The user that a gateway is to run as: the service's where the package has made it, or who runs this. */
export function serviceUser(): string {
  return /^lintel:/m.test(users()) ? "lintel" : userName();
}

/** The command that makes a directory for a gateway, and changes nothing above it. */
export function makeDirectory(directory: string): string {
  return `sudo install -d -o ${serviceUser()} -m 700 '${directory}'`;
}

function users(): string {
  return readIfThere("/etc/passwd") ?? "";
}
