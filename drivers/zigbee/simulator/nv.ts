/**
 * The memory of a ZNP coordinator that survives its restarts: numbered items, and tables of entries as
 * Z-Stack 3.x keeps them. Layouts: Z-Stack 3.0 `nwk.h` (NIB), `AddrMgr.h`, `ZDSecMgr.h`, as zigbee-herdsman's
 * z-stack structures read them.
 */
export const nvItem = {
  extendedAddress: 0x0001,
  startupOption: 0x0003,
  nib: 0x0021,
  extendedPanId: 0x002d,
  activeKey: 0x003a,
  alternateKey: 0x003b,
  linkKeys: 0x004c,
  configured: 0x0060,
  preconfiguredKey: 0x0062,
  networkKeys: 0x0082,
  panId: 0x0083,
  channels: 0x0084,
} as const;

/** Tables of system 1, by item id: how many entries, and what an unused one holds. */
export const nvTable = {
  addresses: { id: 0x0001, entries: 60, empty: Buffer.alloc(11, 0xff).fill(0, 0, 1) },
  trustCentreKeys: { id: 0x0004, entries: 2, empty: Buffer.alloc(19) },
  linkKeys: { id: 0x0006, entries: 2, empty: Buffer.alloc(24) },
  networkSecurity: { id: 0x0007, entries: 2, empty: Buffer.alloc(12) },
} as const;

/** Bit 0: forget the configuration; bit 1: forget the network. */
const startup_clear = 0x03;

export type NvExport = Readonly<Record<string, string>>;

export class NvMemory {
  readonly #items = new Map<string, Buffer>();

  constructor(saved?: NvExport) {
    if (saved === undefined) this.#fill();
    else for (const [key, hex] of Object.entries(saved)) this.#items.set(key, Buffer.from(hex, "hex"));
  }

  export(): NvExport {
    return Object.fromEntries([...this.#items].map(([key, value]) => [key, value.toString("hex")]));
  }

  get(id: number): Buffer | undefined {
    return this.#items.get(itemKey(id));
  }

  set(id: number, value: Buffer): void {
    this.#items.set(itemKey(id), Buffer.from(value));
  }

  delete(id: number): void {
    this.#items.delete(itemKey(id));
  }

  entry(table: number, index: number): Buffer | undefined {
    return this.#items.get(entryKey(table, index));
  }

  setEntry(table: number, index: number, value: Buffer): void {
    this.#items.set(entryKey(table, index), Buffer.from(value));
  }

  /** Restarts; applies the startup option that is in memory. */
  restart(): void {
    const option = this.get(nvItem.startupOption)?.[0] ?? 0;
    if ((option & startup_clear) === 0) return;
    for (const id of [nvItem.nib, nvItem.activeKey, nvItem.alternateKey, nvItem.configured]) this.delete(id);
    this.#fillTables();
  }

  #fill(): void {
    this.set(nvItem.networkKeys, Buffer.alloc(networkKeys_bytes));
    this.set(nvItem.linkKeys, Buffer.concat([Buffer.alloc(2), unusedLinkKey, unusedLinkKey]));
    this.#fillTables();
  }

  #fillTables(): void {
    for (const table of Object.values(nvTable)) {
      for (let index = 0; index < table.entries; index += 1) this.setEntry(table.id, index, table.empty);
    }
  }
}

/** The length of this item tells a host that structures are not padded. */
const networkKeys_bytes = 21;
const unusedLinkKey = Buffer.from("feff000000", "hex");

function itemKey(id: number): string {
  return id.toString(16).padStart(4, "0");
}

function entryKey(table: number, index: number): string {
  return `${itemKey(table)}/${index}`;
}

/** The network that a coordinator runs. Extended PAN id and EUI in printed order. */
export interface Network {
  readonly pan_id: number;
  readonly extended_pan_id: Buffer;
  readonly channel: number;
  readonly eui: Buffer;
}

const nib_bytes = 110;
const nibOffset = {
  securityLevel: 12,
  channel: 22,
  coordinatorEui: 25,
  panId: 33,
  state: 35,
  channels: 36,
  extendedPanId: 53,
  keyLoaded: 61,
} as const;

/** Network Information Base: 110 bytes when structures are not padded. */
export function encodeNib(network: Network): Buffer {
  const nib = Buffer.alloc(nib_bytes);
  nib.writeUInt8(5, nibOffset.securityLevel);
  nib.writeUInt8(network.channel, nibOffset.channel);
  nib.set(reversed(network.eui), nibOffset.coordinatorEui);
  nib.writeUInt16LE(network.pan_id, nibOffset.panId);
  nib.writeUInt8(8, nibOffset.state);
  nib.writeUInt32LE((1 << network.channel) >>> 0, nibOffset.channels);
  nib.set(reversed(network.extended_pan_id), nibOffset.extendedPanId);
  nib.writeUInt8(1, nibOffset.keyLoaded);
  return nib;
}

export function decodeNib(nib: Buffer): Network | undefined {
  if (nib.length < nib_bytes) return undefined;
  return {
    pan_id: nib.readUInt16LE(nibOffset.panId),
    channel: nib.readUInt8(nibOffset.channel),
    extended_pan_id: reversed(nib.subarray(nibOffset.extendedPanId, nibOffset.extendedPanId + 8)),
    eui: reversed(nib.subarray(nibOffset.coordinatorEui, nibOffset.coordinatorEui + 8)),
  };
}

/** Addresses stand on the wire least significant byte first. */
export function reversed(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes).reverse();
}
