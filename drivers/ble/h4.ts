/**
 * The UART transport of HCI: a type, then a packet whose header tells its length. No checksum, no start mark:
 * Core 5.4, Vol 4, Part A. A line that has slipped is found again by types and lengths that cannot be.
 */
export const packetType = { command: 0x01, acl: 0x02, event: 0x04 } as const;

/** Longer ACL packets than this are taken for garbage; an LE controller sends at most 255 bytes of data. */
export const acl_bytes_max = 1_024;

/** Where the length stands behind the type, in how many bytes, and how long the header is with the type. */
const headers: Readonly<Record<number, { at: number; wide: boolean; header_bytes: number }>> = {
  [packetType.command]: { at: 3, wide: false, header_bytes: 4 },
  [packetType.acl]: { at: 3, wide: true, header_bytes: 5 },
  [packetType.event]: { at: 2, wide: false, header_bytes: 3 },
};

/** Cuts packets from a stream of bytes. Holds at most one packet that is not whole. */
export class PacketReader {
  /** Bytes that belonged to no packet. */
  discarded_bytes = 0;
  readonly #accepts: ReadonlySet<number>;
  #rest: Buffer = Buffer.alloc(0);

  /** `from` is who sends: hosts send commands and data, controllers events and data. */
  constructor(from: "host" | "controller") {
    this.#accepts = new Set([packetType.acl, from === "host" ? packetType.command : packetType.event]);
  }

  /** Whole packets, each with its type byte, as views that stay valid. */
  read(chunk: Uint8Array): Buffer[] {
    const bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    const packets: Buffer[] = [];
    let at = 0;
    while (at < bytes.length) {
      const length = this.#lengthOf(bytes, at);
      if (length === "garbage") {
        this.discarded_bytes += 1;
        at += 1;
        continue;
      }
      if (length === "short" || at + length > bytes.length) break;
      packets.push(bytes.subarray(at, at + length));
      at += length;
    }
    this.#rest = Buffer.from(bytes.subarray(at));
    return packets;
  }

  #lengthOf(bytes: Buffer, at: number): number | "garbage" | "short" {
    const type = bytes[at] ?? 0;
    const header = headers[type];
    if (header === undefined || !this.#accepts.has(type)) return "garbage";
    if (type === packetType.event && at + 1 < bytes.length && !isEventCode(bytes[at + 1] ?? 0)) {
      return "garbage";
    }
    if (at + header.header_bytes > bytes.length) return "short";
    const data = header.wide ? bytes.readUInt16LE(at + header.at) : (bytes[at + header.at] ?? 0);
    if (type === packetType.acl && data > acl_bytes_max) return "garbage";
    return header.header_bytes + data;
  }
}

/** Event codes in use, Core 5.4, Vol 4, Part E, 7.7: 0x01 to 0x3e and, for vendors, 0xff. */
function isEventCode(code: number): boolean {
  return (code >= 0x01 && code <= 0x3e) || code === 0xff;
}
