import type { CommandModule } from "./command.ts";

export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
  /** Runs until a signal ends it, with 0. */
  readonly serves?: true;
}

const command = (summary: string, load: CommandEntry["load"]): CommandEntry => ({ summary, load });
const server = (...row: Parameters<typeof command>): CommandEntry => ({ ...command(...row), serves: true });

/**
 * Every command. A module is loaded only when its command is named, so that `lintel token list` does not
 * wait for the radio libraries.
 */
export const commands: Readonly<Record<string, CommandEntry>> = {
  run: server("run a gateway", () => import("./run.ts")),
  central: server(
    "run a central server: receive the uploads of every home and serve them",
    () => import("./central.ts"),
  ),
  demo: server("try Lintel without any device", () => import("./demo.ts")),
  setup: command("set up a gateway: write its configuration, and start it", () => import("./setup.ts")),
  pair: command("let new devices join the running gateway", () => import("./pair.ts")),
  import: command(
    "import the records of a programme: items, homes, subjects and so on",
    () => import("./import.ts"),
  ),
  items: command("list the items of the inventory", () => import("./items.ts")),
  status: command(
    "show what a gateway is doing and when each item was last heard",
    () => import("./status.ts"),
  ),
  mesh: command("show which Zigbee device is heard through which, and how well", () => import("./mesh.ts")),
  doctor: command("check everything a gateway needs, one by one", () => import("./doctor.ts")),
  "burn-in": command(
    "prove the hardware of a box at the bench, before it goes to a home",
    () => import("./burn-in.ts"),
  ),
  accept: command(
    "try each device of a home, and sign the record of its installation",
    () => import("./accept.ts"),
  ),
  clock: command(
    "show whether Lintel trusts the clock, and confirm that it is right",
    () => import("./clock.ts"),
  ),
  "report-fault": command(
    "write one file for the developers that names nobody",
    () => import("./report-fault.ts"),
  ),
  fleet: command("show which homes need a visit, from central's copy", () => import("./fleet.ts")),
  alerts: command(
    "show, acknowledge and try the alerts that central sends about homes",
    () => import("./alerts.ts"),
  ),
  remote: command("ask a box for something from afar, with a signature", () => import("./remote.ts")),
  upload: command("send central all readings that it has not confirmed", () => import("./upload.ts")),
  verify: command("compare every day with central, and send again what differs", () => import("./verify.ts")),
  token: command("create, list and revoke access tokens", () => import("./token.ts")),
  fetch: command("download everything that a token can see, as files", () => import("./fetch.ts")),
  export: command("write series straight from a store into files", () => import("./export.ts")),
  backup: command(
    "copy a store and its files, while a server runs on it or not",
    () => import("./backup.ts"),
  ),
  pause: command("record nothing of a home for a time, or until resumed", () => import("./pause.ts")),
  note: command(
    "note when visitors were there, or somebody was away or in hospital",
    () => import("./note.ts"),
  ),
  withdraw: command(
    "record nothing more of a home or participant: consent was withdrawn",
    () => import("./withdraw.ts"),
  ),
  resume: command("record again after a pause", () => import("./resume.ts")),
  restrict: command(
    "keep the data of a home or participant, and show them to nobody",
    () => import("./restrict.ts"),
  ),
  retention: command(
    "show whose data central will restrict or erase by itself, and when",
    () => import("./retention.ts"),
  ),
  erase: command("erase the data of a home or of a participant for ever", () => import("./erase.ts")),
  restore: command(
    "restore a lost box to a spare one, from a backup or from central",
    () => import("./restore.ts"),
  ),
  update: command(
    "update the gateway to the newest release, and go back if that release fails",
    () => import("./update.ts"),
  ),
  report: command("show doses taken and missed, and walking speed, day by day", () => import("./report.ts")),
};
