import type { CommandModule } from "./command.ts";

export interface CommandEntry {
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
  /** Runs until a signal ends it, with 0. */
  readonly serves?: true;
}

/**
 * Every command. A module is loaded only when its command is named, so that `lintel token list` does not
 * wait for the radio libraries.
 */
export const commands: Readonly<Record<string, CommandEntry>> = {
  run: { summary: "run a gateway", load: () => import("./run.ts"), serves: true },
  central: {
    summary: "run a central server: take in the uploads of every home and serve them",
    load: () => import("./central.ts"),
    serves: true,
  },
  demo: {
    summary: "see it all at work with nothing plugged in",
    load: () => import("./demo.ts"),
    serves: true,
  },
  setup: {
    summary: "set up a gateway: write its configuration, and start it",
    load: () => import("./setup.ts"),
  },
  pair: { summary: "let new devices join the running gateway", load: () => import("./pair.ts") },
  import: {
    summary: "take in the records of a programme: items, homes, subjects and so on",
    load: () => import("./import.ts"),
  },
  items: { summary: "list the items of the inventory", load: () => import("./items.ts") },
  status: {
    summary: "show what a gateway is doing and when each item was last heard",
    load: () => import("./status.ts"),
  },
  doctor: {
    summary: "check everything a gateway needs, one by one",
    load: () => import("./doctor.ts"),
  },
  clock: {
    summary: "show which time a machine believes, and confirm that its clock is right",
    load: () => import("./clock.ts"),
  },
  "report-fault": {
    summary: "write one file for the developers, with nothing in it that names anybody",
    load: () => import("./report-fault.ts"),
  },
  fleet: {
    summary: "show which homes need a visit, from central's copy",
    load: () => import("./fleet.ts"),
  },
  upload: {
    summary: "send to central what it has not confirmed",
    load: () => import("./upload.ts"),
  },
  verify: {
    summary: "compare every day with central, and send again what differs",
    load: () => import("./verify.ts"),
  },
  token: { summary: "create, list and revoke access tokens", load: () => import("./token.ts") },
  fetch: {
    summary: "download everything that a token can see, as files",
    load: () => import("./fetch.ts"),
  },
  export: {
    summary: "write series straight from a store into files",
    load: () => import("./export.ts"),
  },
  backup: {
    summary: "copy a store and its files, while a server runs on it or not",
    load: () => import("./backup.ts"),
  },
  erase: {
    summary: "take away what a home has sent, or all of a participant, for ever",
    load: () => import("./erase.ts"),
  },
  restore: {
    summary: "make a spare box the one that was lost, from a backup or from central",
    load: () => import("./restore.ts"),
  },
  update: {
    summary: "bring the gateway to the newest release, and back where that does not do its work",
    load: () => import("./update.ts"),
  },
  report: {
    summary: "show doses taken and missed, and walking speed, day by day",
    load: () => import("./report.ts"),
  },
};
