import type { Clock } from "../../src/base/clock.ts";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import { openSerialLine, type SerialLine } from "../wire/serial-line.ts";
import { adapterNumber, openAdapter } from "./adapter.ts";
import { PacketReader, packetType } from "./h4.ts";
import {
  type CommandAnswer,
  decodeAdvertisingReports,
  decodeCommand,
  decodeCommandAnswer,
  decodeEncryptionChange,
  type EncryptionChange,
  encodeAdvertisingReport,
  eventCode,
  isAdvertisingReport,
  type Report,
} from "./hci.ts";

/** A controller answers a command within this, or it is no controller. Core 5.4, Vol 4, Part E, 4.4 says 1 s. */
export const command_max_ms = 5_000;
/** noble sends about ten commands at once; more than this waiting means that it has lost its way. */
const commands_max = 64;

export interface LineOptions {
  readonly port: string;
  readonly baud: number;
  readonly clock: Clock;
  readonly dropped: (what: string, count?: number) => void;
  /** Told of each advertising packet; answers whether noble is to know of it, because its device may be connected to. */
  readonly onReport: (report: Report) => boolean;
}

/**
 * The serial line of a controller, packet by packet, as noble's socket wants it. Advertising packets end here but for those of
 * devices that may be connected to: noble keeps every address that it has ever heard, and forgetting one costs it the more the
 * more it has. Gives the controller no
 * more commands at a time than it takes: it says so in every answer (Core 5.4, Vol 4, Part E, 4.4), and small
 * ones lose what comes sooner. noble leaves that to the kernel, which has no part in this line.
 */
export class ControllerLine {
  onPacket: ((packet: Buffer) => void) | undefined;
  /** Told of every answer to a command, with the command, before noble is. */
  onAnswer: (answer: CommandAnswer, command: Buffer) => void = () => {};
  /** Told when a link was encrypted, or could not be. */
  onEncryption: (change: EncryptionChange) => void = () => {};
  readonly ended: Promise<OperatorError>;
  /** Advertising packets so far. */
  reports = 0;
  readonly #options: LineOptions;
  readonly #reader = new PacketReader("controller");
  readonly #end: (reason: OperatorError) => void;
  #serial: SerialLine | undefined;
  #waiting: Buffer[] = [];
  /** Sent and not answered yet, by opcode. */
  readonly #sent = new Map<number, Buffer>();
  #credits = 1;
  #hasAnswered = false;
  #discarded_bytes = 0;
  #cancelTimer: (() => void) | undefined;

  private constructor(options: LineOptions) {
    this.#options = options;
    const { promise, resolve } = Promise.withResolvers<OperatorError>();
    this.ended = promise;
    this.#end = resolve;
  }

  /** Opens the port. Rejects with an OperatorError, and has then released it. */
  static async open(options: LineOptions, signal: AbortSignal): Promise<ControllerLine> {
    const line = new ControllerLine(options);
    const { port, baud } = options;
    const onData = (chunk: Uint8Array) => line.#receive(chunk);
    const serial =
      adapterNumber(port) === undefined
        ? await openSerialLine(
            {
              port,
              baud,
              // Controllers lose bytes at 1 Mbit/s without it; a serial server does it at its own end.
              rtscts: !port.includes("://"),
              device: "the Bluetooth controller",
              section: "[ble]",
              onData,
            },
            signal,
          )
        : await openAdapter(port, onData);
    line.#serial = serial;
    void serial.ended.then(line.#end);
    return line;
  }

  write(packet: Buffer): void {
    if (packet[0] !== packetType.command) {
      this.#send(packet);
      return;
    }
    if (this.#waiting.length >= commands_max) {
      this.fail(`it has taken none of ${commands_max} commands`);
      return;
    }
    this.#waiting.push(packet);
    this.#sendCommands();
  }

  /** Ends the line: the device at the other end does not behave as a controller. */
  fail(said: string): void {
    const { port } = this.#options;
    this.#end(this.#hasAnswered ? brokenFault(port, said) : silentFault(port, said));
  }

  async close(): Promise<void> {
    this.onPacket = undefined;
    this.#cancelTimer?.();
    this.#waiting = [];
    await this.#serial?.close();
  }

  #receive(chunk: Uint8Array): void {
    const { dropped } = this.#options;
    for (const packet of this.#reader.read(chunk)) {
      const answer = decodeCommandAnswer(packet);
      if (answer !== undefined) this.#answered(answer);
      if (packet[0] === packetType.event && packet[1] === eventCode.hardwareError) {
        this.fail("it reports a hardware error");
      }
      const change = decodeEncryptionChange(packet);
      if (change !== undefined) this.onEncryption(change);
      if (!this.#handOn(packet)) dropped("Bluetooth packets that cannot be read");
    }
    const discarded = this.#reader.discarded_bytes - this.#discarded_bytes;
    if (discarded > 0) dropped("bytes between Bluetooth packets", discarded);
    this.#discarded_bytes = this.#reader.discarded_bytes;
  }

  /** Whether a packet could be read. */
  #handOn(packet: Buffer): boolean {
    if (!isAdvertisingReport(packet)) return this.#handToNoble(packet);
    const reports = decodeAdvertisingReports(packet);
    this.reports += reports?.length ?? 0;
    try {
      for (const report of reports ?? [])
        if (this.#options.onReport(report)) this.#handToNoble(encodeAdvertisingReport(report));
    } catch {
      // Whatever anybody puts on the air, the line goes on.
      return false;
    }
    return reports !== undefined;
  }

  /** Whether noble could read it: it looks at fields of most before it looks at lengths. */
  #handToNoble(packet: Buffer): boolean {
    try {
      this.onPacket?.(packet);
      return true;
    } catch {
      return false;
    }
  }

  #answered(answer: CommandAnswer): void {
    this.#hasAnswered = true;
    const command = this.#sent.get(answer.opcode);
    this.#sent.delete(answer.opcode);
    this.#credits = answer.credits;
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#sent.size > 0) this.#startTimer();
    if (command !== undefined) this.onAnswer(answer, command);
    this.#sendCommands();
  }

  #sendCommands(): void {
    while (this.#credits > 0) {
      const command = this.#waiting.shift();
      if (command === undefined) return;
      this.#credits -= 1;
      this.#sent.set(decodeCommand(command).opcode, command);
      this.#startTimer();
      this.#send(command);
    }
  }

  #startTimer(): void {
    this.#cancelTimer ??= this.#options.clock.after(command_max_ms, () =>
      this.fail(`no answer to a command in ${command_max_ms / 1_000} s`),
    );
  }

  #send(packet: Buffer): void {
    // A line that is gone has told so through `ended`.
    this.#serial?.write(packet).catch((thrown: unknown) => {
      this.#end(
        thrown instanceof OperatorError ? thrown : silentFault(this.#options.port, messageOf(thrown)),
      );
    });
  }
}

/** Nothing that speaks HCI is at the other end. */
export function silentFault(port: string, said: string): OperatorError {
  if (adapterNumber(port) !== undefined)
    return new OperatorError(
      `the Bluetooth adapter ${port} does not answer (${said})`,
      "unplug it and plug it in again, or start the machine again; docs/bluetooth.md keeps an adapter on USB awake",
    );
  return new OperatorError(
    `nothing on ${port} answers as a Bluetooth controller (${said})`,
    "check that the port in [ble] is the controller's, that its baud rate is right and that its firmware is HCI over UART; then unplug it and plug it in again",
  );
}

/** A controller that has worked does so no longer. */
function brokenFault(port: string, said: string): OperatorError {
  return new OperatorError(
    `the Bluetooth controller on ${port} does not work as it should (${said})`,
    "it is started again by itself; unplug it and plug it in again if this lasts",
  );
}
