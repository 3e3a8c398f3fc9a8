import type { Command } from "commander";
import { onReadOnlyDisk, readOnlyDisk } from "../base/disk/disk-fault.ts";
import { GuardedClock } from "../base/guarded-clock.ts";
import { type MachineHealth, machineHealth } from "../base/machine-health.ts";
import type { OpenJoining } from "../domain/joining-state.ts";
import { ControlClient } from "../gateway/control-client.ts";
import type { GatewayStatus } from "../gateway/gateway-status.ts";
import type { UploadState } from "../store/gateway/upload-store.ts";
import { pausesNotOver } from "../store/pause.ts";
import { isTimeKnown } from "../store/pause-requests.ts";
import { storedRole } from "../store/sqlite/role-and-epoch.ts";
import type { ItemOverview, Overview } from "../store/store.ts";
import { ownCertificateIn } from "../web/server/self-signed.ts";
import { addHelp, type CommandContext } from "./command.ts";
import { printConflicts } from "./items/item-admission.ts";
import { itemName, newest_ms, readingsOf, subtypeOf } from "./items.ts";
import { pauseText } from "./pause.ts";
import { machineRemedies, machineText, uploadStatus } from "./state-text.ts";
import { addDirectoryOptions, dataDirectory, type StoreOptions } from "./store-place.ts";
import type { Terminal } from "./terminal.ts";
import { bytesText, folding, momentText, printTable, spanText, type TableColumns } from "./terminal-text.ts";
import { withStore, withUploadStore } from "./with-store.ts";

/** `lintel status`: the state of the gateway, and when each item was last heard; of central, the size of its store and its certificate. */
export function define(command: Command, context: CommandContext): void {
  addHelp(command, {
    examples: {
      "lintel status": "drivers, items, what was dropped",
      "lintel status --json": "for a monitor",
    },
    notes: [
      "Without a running gateway it shows what the store knows, and says so. On central's directory it shows how much",
      "that holds and the certificate that central made; lintel fleet shows its homes.",
    ],
    exits: { 0: "shown, whether a gateway runs or not" },
  });
  addDirectoryOptions(command)
    .option("--json", "print it as JSON; running is false where only the store could be asked")
    .action((options: StoreOptions) => status(options, context));
}

async function status(options: StoreOptions, context: CommandContext): Promise<void> {
  const { clock } = context;
  const terminal = folding(context.terminal);
  const directory = dataDirectory(options);
  // A store that is older, damaged or missing is found out first.
  const role = await withStore({ data: directory }, context, async () => storedRole(directory));
  if (role === "central") return centralStatus(directory, options, context);
  const running = await new ControlClient(directory).statusIfRunning();
  const now_ms = running?.now_ms ?? clock.now().unix_ms;
  const { store, upload, pauses } = await withUploadStore(directory, context, async (open) => ({
    store: running?.store ?? (await open.overview()),
    upload: await open.uploadState(),
    pauses: pausesNotOver(await open.pauses(), {
      now_ms,
      isKnown: running?.clock_synchronised ?? isTimeKnown(clock),
    }),
  }));
  const tls = running === undefined ? ownCertificateIn(directory) : running.tls;
  const disk_read_only = onReadOnlyDisk(directory);
  const machine = running?.machine ?? machineHealth(directory);
  if (options.json) {
    const known = { running: running !== undefined, directory, disk_read_only, machine };
    terminal.printJson({ ...known, ...running, tls, store, upload, pauses });
    return;
  }
  if (running === undefined) {
    const { yellow } = terminal.colours;
    terminal.print(yellow(`No gateway is running on ${directory}; this is what its store knows.`));
  } else printGateway(running, terminal);
  if (disk_read_only)
    terminal.print(terminal.colours.red(`✗ ${directory} ${readOnlyDisk.what}: ${readOnlyDisk.remedy}`));
  for (const pause of pauses.slice(0, pauses_shown_max))
    terminal.print(terminal.colours.yellow(pauseText(pause, now_ms)));
  printMachine(machine, now_ms, terminal);
  const doubt = running === undefined ? new GuardedClock({ clock, directory }).doubt() : running.clock_doubt;
  if (doubt !== undefined) terminal.print(terminal.colours.red(`✗ ${doubt.what} ${doubt.remedy}`));
  // A path or fingerprint stays on one line, so that it can be copied.
  printTls(tls, context.terminal);
  printStore(store, now_ms, terminal);
  if (running !== undefined) {
    printStrangers(running.strangers, terminal);
    printConflicts(
      running.conflicts.filter(({ refused_ms }) => refused_ms === undefined),
      terminal,
    );
  }
  printUpload(upload, store, now_ms, terminal);
}

/** Status of a central data directory; `lintel fleet` shows its homes. */
async function centralStatus(
  directory: string,
  options: { json?: boolean },
  context: CommandContext,
): Promise<void> {
  const { terminal } = context;
  const { store, erasures } = await withStore({ data: directory }, context, async (open) => ({
    store: await open.overview(),
    erasures: await open.erasures(),
  }));
  const erased = { times: erasures.length, refused: erasures.reduce((sum, { refused }) => sum + refused, 0) };
  const tls = ownCertificateIn(directory);
  if (options.json) {
    terminal.printJson({ role: "central", directory, tls, store, erased });
    return;
  }
  const size = `${store.last_seq} readings of ${store.items.length} items, ${bytesText(store.bytesOnDisk)}`;
  terminal.print(
    `${terminal.colours.bold("Central")}  ${size}, in ${directory}; lintel fleet shows its homes.`,
  );
  if (erased.times > 0)
    terminal.print(
      `${terminal.colours.bold("Erased")}  ${erased.times} times of homes; ${erased.refused} readings of them came later and were refused (lintel erase --list)`,
    );
  printTls(tls, terminal);
}

/** Disk, temperature and power supply, as far as the machine tells; what is amiss with its remedy. */
function printMachine(machine: MachineHealth, now_ms: number, { print, colours }: Terminal): void {
  const texts = machineText(machine, now_ms);
  const remedies = Object.entries(machineRemedies(machine, now_ms));
  print("");
  print(`${colours.bold("Machine")}  ${texts.wear}   ${texts.temperature}   ${texts.power}`);
  for (const [part, remedy] of remedies)
    print(`  ${colours.red(`✗ ${texts[part as keyof typeof texts]}: ${remedy}`)}`);
}

/** Prints the certificate's fingerprint, for people to compare before they trust it. */
function printTls(
  tls: GatewayStatus["tls"] | ReturnType<typeof ownCertificateIn>,
  { print, colours }: Terminal,
): void {
  if (tls === undefined) return;
  print("");
  if ("problem" in tls) print(`${colours.bold("TLS")}  ${colours.red(`✗ ${tls.problem}`)}`);
  else {
    print(`${colours.bold("TLS")}  certificate ${tls.certificate}`);
    print(`  SHA-256 fingerprint ${tls.fingerprint}`);
  }
}

function joiningText({ by, until_ms }: OpenJoining): string {
  const whom = { page: "on a page", command: "by lintel pair", button: "by the button on the box" }[by];
  return `joining open until ${momentText(until_ms)} (${whom})`;
}

function printGateway(gateway: GatewayStatus, { print, colours }: Terminal): void {
  const up = spanText(gateway.now_ms - gateway.started_ms);
  print(colours.bold(`Lintel ${gateway.version} at ${gateway.url}, up ${up} (process ${gateway.pid})`));
  const facts = [
    `memory ${bytesText(gateway.memory_bytes)}`,
    `disk free ${bytesText(gateway.disk_free_bytes)}`,
    gateway.clock_synchronised ? "clock synchronised" : colours.yellow("clock not synchronised"),
    gateway.opened ? colours.yellow(joiningText(gateway.opened)) : "joining closed",
  ];
  print(`  ${facts.join("   ")}`);
  for (const warning of gateway.warnings) print(colours.yellow(`  ! ${warning}`));
  if (gateway.connections_closed > 0)
    print(
      colours.yellow(`  ! ${gateway.connections_closed} connections closed: there were too many at once`),
    );
  if (gateway.requests_refused > 0)
    print(colours.yellow(`  ! ${gateway.requests_refused} requests refused: too much was under way`));
  print("");
  print(colours.bold("Drivers"));
  if (gateway.drivers.length === 0) print("  none is configured: nothing is heard");
  for (const driver of gateway.drivers) {
    const mark = driver.problem === undefined ? colours.green("✓") : colours.red("✗");
    const since = spanText(gateway.now_ms - driver.since_ms);
    print(`  ${mark} ${driver.name} ${driver.state} for ${since}  ${colours.dim(driver.detail)}`.trimEnd());
    if (driver.problem !== undefined) print(`    ${colours.red(driver.problem)}`);
  }
  print("");
  const { problem, why, ...counts } = gateway.ingest;
  const shown = Object.entries(counts)
    .filter(([, count]) => typeof count === "number")
    .map(([name, count]) => `${name} ${count}`);
  print(`${colours.bold("Ingest")}  ${shown.join("   ")}`);
  if (typeof problem === "string") print(`  ${colours.red(`✗ ${problem}`)}`);
  if (typeof why === "string") print(`  ${colours.yellow(`! ${why}`)}`);
}

/** Nothing where this gateway has never tried to send anything. */
function printUpload(
  state: UploadState,
  store: Overview,
  now_ms: number,
  { print, colours }: Terminal,
): void {
  if (state.uploaded_ms === undefined && state.failed_ms === undefined) return;
  const { text, failure, late } = uploadStatus(state, store.last_seq, now_ms);
  print("");
  print(`${colours.bold("Upload")}  ${late ? colours.yellow(text) : text}`);
  if (failure !== undefined) print(`  ${colours.red(`✗ ${failure}`)}`);
}

function printStore(store: Overview, now_ms: number, terminal: Terminal): void {
  const { print, colours } = terminal;
  print("");
  print(
    `${colours.bold("Store")}  ${store.last_seq} readings${store.waiting === 0 ? "" : ` (${store.waiting} more wait for the time)`}, ${bytesText(store.bytesOnDisk)}, epoch ${store.epoch}`,
  );
  print("");
  if (store.items.length === 0) print("No items yet: lintel pair lets devices join.");
  else {
    printTable(terminal, columnsAt(now_ms), store.items, least);
    const overdue = store.items.filter((item) => item.overdue).map(({ record }) => record.itemname);
    if (overdue.length > 0) {
      print("");
      print(colours.yellow(`! overdue, look at their batteries and places: ${overdue.join(", ")}`));
    }
  }
  const dropped = Object.entries(store.dropped);
  if (dropped.length === 0) return;
  print("");
  print(colours.bold("Dropped since the store was made"));
  for (const [what, count] of dropped) print(`  ${colours.yellow(String(count))} ${what}`);
}

/** Nothing where no stranger is heard. */
function printStrangers(strangers: GatewayStatus["strangers"], { print, colours }: Terminal): void {
  if (strangers.length === 0) return;
  const [newest] = strangers;
  print("");
  print(
    `${colours.bold("Strangers")}  ${strangers.length} heard and not listened to, ${newest?.device.address} the last: lintel items strangers lists them, lintel items admit ADDRESS lets one in.`,
  );
}

/** Can be done without, the first first. */
const least = ["link", "subtype", "readings", "last event", "expected", "gaps"];

function columnsAt(now_ms: number): TableColumns<ItemOverview> {
  return {
    item: itemName,
    subtype: subtypeOf,
    "last heard": ({ heard_ms, overdue, replaced }) =>
      heard_ms === undefined
        ? "never"
        : `${spanText(now_ms - heard_ms)} ago${replaced === undefined ? (overdue ? ", overdue" : "") : ", replaced"}`,
    expected: ({ expected_ms }) =>
      expected_ms === undefined ? "when used" : `every ${spanText(expected_ms)}`,
    "last event": (item) => {
      const newest = newest_ms(item);
      return newest === undefined ? "never" : momentText(newest);
    },
    battery: ({ battery_percent: percent, battery_mv: mv }) =>
      [percent === undefined ? [] : `${percent} %`, mv === undefined ? [] : `${(mv / 1000).toFixed(1)} V`]
        .flat()
        .join(" ") || undefined,
    link: ({ linkquality }) => linkquality,
    readings: readingsOf,
    gaps: ({ gaps, lost }) =>
      gaps === 0 ? undefined : `${gaps}${lost === 0 ? "" : ` (${lost} events lost)`}`,
  };
}

const pauses_shown_max = 5;
