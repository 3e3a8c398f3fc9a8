import { LineSimulator } from "../../wire/line-simulator.ts";
import { openTransport, type Transport, type TransportKind } from "../../wire/simulated-line.ts";
import { encodeAddress } from "../address.ts";
import { PacketReader, packetType } from "../h4.ts";
import {
  decodeAcl,
  decodeCommand,
  decodeCreateConnection,
  decodeStartEncryption,
  encodeAdvertisingReport,
  encodeCommandComplete,
  encodeCommandStatus,
  encodeCompletedPackets,
  encodeConnectionComplete,
  encodeDisconnectionComplete,
  opcode,
  type Report,
  status,
} from "../hci.ts";
import { typedAddress } from "../security/bonds.ts";
import { acl_piece_bytes, Link } from "./link.ts";
import { SimulatedPeripheral, type SimulatedPeripheralOptions } from "./peripheral.ts";

export interface HciSimulatorOptions {
  readonly transport: TransportKind | Transport;
  /** TCP port, 0 for a free one; or the symlink to make for a pty. */
  readonly port?: number;
  readonly link?: string;
  /** The controller's own address. */
  readonly address?: string;
}

/**
 * A Bluetooth LE controller at the end of a serial line (HCI over H4), and any number of devices on the air
 * around it. Takes one command at a time, as small controllers do: a host that sends another before the
 * answer loses it, which `overruns` counts.
 */
export class HciSimulator extends LineSimulator {
  readonly peripherals: SimulatedPeripheral[] = [];
  /** While true nothing is answered: firmware that hangs. */
  hung = false;
  overruns = 0;
  resets = 0;
  /** Is told of each command of a host before it is obeyed. */
  onCommand: (opcode: number) => void = () => {};
  /** Commands that are not in the table below, as opcodes. */
  readonly unknown = new Set<number>();
  readonly #options: HciSimulatorOptions;
  readonly #links = new Map<number, Link>();
  #reader = new PacketReader("host");
  #scan: { filter: boolean; active: boolean } | undefined;
  #active = true;
  #reportsLe = false;
  #reported = new Set<string>();
  #connecting: { address: string } | undefined;
  #busy = false;
  #lastHandle = 0x3f;

  private constructor(options: HciSimulatorOptions, transport: Transport) {
    super(transport);
    this.#options = options;
    transport.onOpen = () => {
      this.#reader = new PacketReader("host");
      this.#busy = false;
    };
    transport.onData = (chunk) => {
      for (const packet of this.#reader.read(chunk)) this.#take(packet);
    };
  }

  /** Starts a controller on a TCP port of the loopback, or on a pty. */
  static async listen(options: HciSimulatorOptions): Promise<HciSimulator> {
    return new HciSimulator(options, await openTransport(options));
  }

  get scanning(): boolean {
    return this.#scan !== undefined;
  }

  /** Puts a device on the air. It is silent until `advertise()`. */
  addPeripheral(options: SimulatedPeripheralOptions): SimulatedPeripheral {
    const peripheral = new SimulatedPeripheral(
      { report: (reports) => this.#report(reports), reachable: () => this.#connect() },
      options,
    );
    this.peripherals.push(peripheral);
    return peripheral;
  }

  /** Reports a device that is heard this once. False when nobody scans. */
  passBy(options: SimulatedPeripheralOptions): boolean {
    return new SimulatedPeripheral(
      { report: (of) => this.#report(of), reachable: () => {} },
      options,
    ).advertise();
  }

  /** Takes the dongle out: connections break and the port is gone. */
  override async unplug(): Promise<void> {
    this.#reset();
    await super.unplug();
  }

  /** The firmware crashes and starts again: the line stays, everything that was set is forgotten. */
  reboot(): void {
    this.#reset();
  }

  #take(packet: Buffer): void {
    if (this.hung) return;
    if (packet[0] === packetType.acl) this.#takeData(packet);
    else if (this.#busy) this.overruns += 1;
    else {
      this.#busy = true;
      setImmediate(() => {
        this.#busy = false;
        if (!this.transport.plugged || this.hung) return;
        const command = decodeCommand(packet);
        this.onCommand(command.opcode);
        this.#obey(command);
      });
    }
  }

  #takeData(packet: Buffer): void {
    const link = this.#links.get(decodeAcl(packet).handle);
    if (link === undefined) return;
    this.#send(encodeCompletedPackets(link.handle, 1));
    link.receive(packet);
  }

  #obey({ opcode: of, parameters }: { opcode: number; parameters: Buffer }): void {
    const reply = answers[of];
    if (reply !== undefined) {
      this.#complete(of, status.success, reply(this.#options));
      return;
    }
    const act = this.#acts[of];
    if (act === undefined) {
      this.unknown.add(of);
      this.#complete(of, status.unknownCommand);
    } else act(parameters);
  }

  /** Commands that change something; those that only ask are in `answers`. */
  readonly #acts: Readonly<Record<number, (parameters: Buffer) => void>> = {
    [opcode.reset]: () => {
      this.resets += 1;
      this.#reset();
      this.#complete(opcode.reset);
    },
    [opcode.setEventMask]: (parameters) => {
      this.#reportsLe = ((parameters[7] ?? 0) & leMetaBit) !== 0;
      this.#complete(opcode.setEventMask);
    },
    [opcode.leSetScanParameters]: (parameters) => {
      this.#active = parameters[0] === 1;
      this.#complete(opcode.leSetScanParameters);
    },
    [opcode.leSetScanEnable]: ([enable = 0, filter = 0]) => {
      this.#scan = enable === 1 ? { filter: filter === 1, active: this.#active } : undefined;
      this.#reported.clear();
      this.#complete(opcode.leSetScanEnable);
    },
    [opcode.leCreateConnection]: (parameters) => this.#create(decodeCreateConnection(parameters)),
    [opcode.leCancelConnection]: () => {
      const pending = this.#connecting;
      this.#connecting = undefined;
      this.#complete(opcode.leCancelConnection, pending === undefined ? status.disallowed : status.success);
      if (pending === undefined) return;
      const failure = { status: status.unknownConnection, handle: 0, addressType: "public" } as const;
      this.#send(encodeConnectionComplete({ ...failure, address: pending.address }));
    },
    [opcode.disconnect]: (parameters) => {
      const link = this.#links.get(parameters.readUInt16LE(0));
      this.#status(opcode.disconnect, link === undefined ? status.unknownConnection : status.success);
      link?.end(status.localEnded);
    },
    [opcode.leStartEncryption]: (parameters) => {
      const { handle, ...key } = decodeStartEncryption(parameters);
      const link = this.#links.get(handle);
      this.#status(opcode.leStartEncryption, link === undefined ? status.unknownConnection : status.success);
      link?.encrypt(key);
    },
    [opcode.leUpdateConnection]: () => this.#status(opcode.leUpdateConnection),
  };

  #create(address: string): void {
    if (this.#connecting !== undefined) {
      this.#status(opcode.leCreateConnection, status.disallowed);
      return;
    }
    this.#connecting = { address };
    const wanted = this.peripherals.find((one) => one.address === address);
    if (wanted !== undefined) wanted.attempts += 1;
    this.#status(opcode.leCreateConnection);
    this.#connect();
  }

  /** Makes the connection that the host waits for, as soon as its device can be reached. */
  #connect(): void {
    const { address } = this.#connecting ?? {};
    const peripheral = this.peripherals.find((one) => one.address === address);
    if (peripheral === undefined || !peripheral.connectable || !peripheral.reachable) return;
    if (peripheral.connected) return;
    this.#connecting = undefined;
    this.#lastHandle += 1;
    const link = new Link(this.#lastHandle, peripheral, {
      central: typedAddress(this.#options.address ?? address_default, "public"),
      send: (packet) => this.#send(packet),
      ended: (of, reason) => {
        if (!this.#links.delete(of.handle)) return;
        of.lost();
        this.#send(encodeDisconnectionComplete(of.handle, reason));
      },
    });
    this.#links.set(link.handle, link);
    const { addressType } = peripheral;
    const { handle } = link;
    this.#send(
      encodeConnectionComplete({ status: status.success, handle, address: peripheral.address, addressType }),
    );
    peripheral.linked(link);
  }

  #report(reports: readonly Report[]): boolean {
    if (this.#scan === undefined || !this.#reportsLe || this.hung || !this.transport.plugged) return false;
    for (const report of reports) {
      const key = `${report.kind} ${report.address}`;
      if (report.kind === "scanResponse" && !this.#scan.active) continue;
      if (this.#scan.filter && this.#reported.has(key)) continue;
      if (this.#scan.filter) this.#reported.add(key);
      this.#send(encodeAdvertisingReport(report));
    }
    return true;
  }

  #reset(): void {
    this.#scan = undefined;
    this.#reportsLe = false;
    this.#connecting = undefined;
    const links = [...this.#links.values()];
    this.#links.clear();
    for (const link of links) link.lost();
  }

  #complete(of: number, said: number = status.success, more?: Uint8Array): void {
    this.#send(encodeCommandComplete({ opcode: of, credits: 1, status: said }, more));
  }

  #status(of: number, said: number = status.success): void {
    this.#send(encodeCommandStatus({ opcode: of, credits: 1, status: said }));
  }

  #send(packet: Buffer): void {
    this.transport.write(packet);
  }
}

const address_default = "c0:ff:ee:00:00:01";

/** Bit 61 of the event mask, 7.3.1: off after a reset. */
const leMetaBit = 0x20;

const nothing = () => new Uint8Array(0);

/** Return parameters after the status, by opcode. Core 5.4, Vol 4, Part E, 7.3, 7.4 and 7.8. */
const answers: Readonly<Record<number, (options: HciSimulatorOptions) => Uint8Array>> = {
  [opcode.leSetEventMask]: nothing,
  [opcode.writeLeHostSupport]: nothing,
  [opcode.readLeHostSupport]: () => Uint8Array.of(1, 0),
  // Bluetooth 5.3, manufacturer 0x05f1 (The Linux Foundation), as Zephyr says.
  [opcode.readLocalVersion]: () => Uint8Array.of(0x0c, 0, 0, 0x0c, 0xf1, 0x05, 0, 0),
  // The kernel's commands before and after anybody uses an adapter: LE and no BR/EDR, none of the optional commands, one advertising set.
  [opcode.readLocalFeatures]: () => Uint8Array.of(0, 0, 0, 0, 0x60, 0, 0, 0),
  [opcode.readSupportedCommands]: () => new Uint8Array(64),
  [opcode.leReadSupportedStates]: () => new Uint8Array(8).fill(0xff),
  [opcode.leReadAdvertisingSets]: () => Uint8Array.of(1),
  [opcode.leEnableAdvertisingSets]: nothing,
  [opcode.leRemoveAdvertisingSet]: nothing,
  [opcode.leClearAdvertisingSets]: nothing,
  [opcode.readAddress]: ({ address = address_default }) => encodeAddress(address),
  [opcode.leReadBufferSize]: () => Uint8Array.of(acl_piece_bytes, 0, 4),
  // Bit 12, extended advertising, as most controllers have it: a host may use those commands or the older ones.
  [opcode.leReadFeatures]: () => Uint8Array.of(0, 0x10, 0, 0, 0, 0, 0, 0),
};
