import { readFileSync } from "node:fs";
import { join, normalize } from "node:path";

const root = normalize(join(import.meta.dir, "../../.."));

/**
 * The commands of the documents that the trial runs as they are printed, each found by what it begins with below a
 * heading. What a document says is read from it, never written down here a second time, so neither can drift.
 */
export const printed = {
  install: ["README.md", "A technician with a box", "sudo apt install"],
  setup: ["README.md", "A technician with a box", "sudo lintel setup"],
  pair: ["README.md", "A technician with a box", "sudo -u lintel lintel pair"],
  upload: ["README.md", "A technician with a box", "sudo -u lintel lintel upload"],
  doctor: ["README.md", "A technician with a box", "sudo -u lintel lintel doctor"],
  status: ["README.md", "A technician with a box", "sudo -u lintel lintel status"],
  token: ["README.md", "A researcher on the home network", "sudo -u lintel lintel token create maria"],
  pagesLink: ["README.md", "A technician with a box", "sudo -u lintel lintel token create lea"],
  uploadEnable: ["README.md", "A technician with a box", "sudo systemctl enable --now lintel-upload.timer"],
  reportFault: ["README.md", "A technician with a box", "sudo lintel report-fault"],
  backup: ["README.md", "A technician with a box", "sudo -u lintel lintel backup"],
  restoreFromCentral: ["README.md", "A technician with a box", "sudo -u lintel lintel restore"],
  installCentral: ["README.md", "A field engineer or central operator", "sudo apt install"],
  centralByHand: ["README.md", "A field engineer or central operator", "lintel central --data "],
  centralOnPostgres: ["README.md", "A field engineer or central operator", "lintel central --database"],
  centralToken: [
    "README.md",
    "A field engineer or central operator",
    "sudo -u lintel-central lintel token create",
  ],
  certificate: ["README.md", "A researcher on the home network", "openssl s_client"],
  ask: ["README.md", "A researcher on the home network", "curl -H"],
  fetch: ["README.md", "A researcher on the home network", "lintel fetch"],
  repositoryKey: ["docs/install.md", "The package", "sudo curl"],
  repositoryLine: ["docs/install.md", "The package", "echo"],
  repositoryInstall: ["docs/install.md", "The package", "sudo apt update"],
  installHere: ["docs/install.md", "Install", "sudo apt install"],
  setupHere: ["docs/install.md", "Install", "sudo lintel setup"],
  enableByHand: ["docs/install.md", "Install", "sudo systemctl enable --now lintel.service"],
  enableCentral: ["docs/install.md", "Install", "sudo systemctl enable --now lintel-central"],
  backupBefore: ["docs/install.md", "Upgrade", "sudo -u lintel lintel backup"],
  upgrade: ["docs/install.md", "Upgrade", "sudo apt install"],
  finish: ["docs/install.md", "Upgrade", "sudo dpkg --configure"],
  goBack: ["docs/install.md", "Go back to an older version", "sudo apt install --allow-downgrades"],
  stopBefore: ["docs/install.md", "Go back to an older version", "sudo systemctl stop"],
  restoreBefore: ["docs/install.md", "Go back to an older version", "sudo -u lintel lintel restore"],
  startAfter: ["docs/install.md", "Go back to an older version", "sudo systemctl start"],
  remove: ["docs/install.md", "Remove Lintel", "sudo apt remove"],
  purge: ["docs/install.md", "Remove Lintel", "sudo apt purge"],
  homeToken: ["docs/central.md", "Let homes in", "sudo -u lintel-central lintel token create"],
  postgresDatabase: ["docs/central.md", "On PostgreSQL", "sudo -u postgres createuser"],
  stopBox: ["docs/restore.md", "After: the spare box", "sudo systemctl stop"],
  restoreBackup: ["docs/restore.md", "After: the spare box", "sudo -u lintel lintel restore /media"],
  startBox: ["docs/restore.md", "After: the spare box", "sudo systemctl start"],
} as const satisfies Readonly<Record<string, readonly [document: string, heading: string, begins: string]>>;

export type Printed = keyof typeof printed;

/** Commands of README and docs/install.md that the trial leaves out, and why. */
export const leftOut: Readonly<Record<string, string>> = {
  "./scripts/lintel demo": "it is for a checkout, and test/shipped runs it",
  "./scripts/test": "it runs every test, this one's quick relatives among them",
  "./scripts/apt-folder ~/published /srv/www/lintel --sign-with programme@example.org dist/lintel_*.deb":
    "it is run with the names that this machine has",
  "gpg --show-keys /etc/apt/keyrings/lintel.asc": "a person compares what it prints",
  "sudo ./scripts/test-aarch64": "it boots a machine of its own",
};

const tried = new Set<Printed>();

/** A command as its document prints it, with `blanks` such as `<this repository>` filled in. */
export function command(name: Printed, blanks: Readonly<Record<string, string>> = {}): string {
  tried.add(name);
  const [document, heading, begins] = printed[name];
  const found = commandsOf(document, heading).filter((line) => line.startsWith(begins));
  const [line] = found;
  if (line === undefined || found.length > 1)
    throw new Error(`${document}, "${heading}" has ${found.length} commands that begin with ${begins}`);
  return Object.entries(blanks).reduce((text, [blank, value]) => {
    if (!text.includes(blank)) throw new Error(`${document} prints no ${blank} in ${text}`);
    return text.replaceAll(blank, value);
  }, line);
}

/** Commands of README that no step has asked for yet. */
export function untried(): Printed[] {
  return (Object.keys(printed) as Printed[]).filter((name) => !tried.has(name));
}

/**
 * The commands below a heading, or of the whole document: each line of its shell blocks, continued lines as one, and
 * what stands in the text as code and begins with sudo.
 */
export function commandsOf(document: string, heading?: string): string[] {
  const text = readFileSync(join(root, document), "utf8");
  const sections = text.split(/^## /m).slice(1);
  const chosen =
    heading === undefined ? [text] : sections.filter((section) => section.startsWith(`${heading}\n`));
  return chosen.flatMap((section) => {
    const blocks = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block = ""]) => block);
    const lines = blocks.flatMap((block) => block.replaceAll(/\\\n\s*/g, "").split("\n"));
    const prose = section.replaceAll(/^```.*?^```$/gms, "");
    const inline = [...prose.matchAll(/`(sudo [^`]+)`/g)].map(([, code = ""]) => code);
    return [...lines, ...inline].filter((line) => line.trim() !== "");
  });
}
