/** Bounds of the requests of one cost. A caller is a token, and apart from that an address. */
export interface Cost {
  /** Requests that the server works on at once. One token never takes the last turn. */
  readonly turns: number;
  /** Requests that the server works on or still sends the answer of: all together, of one token, and of one address. */
  readonly all: number;
  readonly of_token: number;
  readonly of_address: number;
  /** Requests that may wait for a turn, of one token and of one address. More are refused at once. */
  readonly waiting_of_token: number;
  readonly waiting_of_address: number;
  /** Requests that one token may begin in a minute, and one address twice as many; absent: turns alone bound them. */
  readonly a_minute?: number;
}

/**
 * The budget of callers, in one table: what each cost may take at a gateway, where 512 MB have to do, and at central. Two addresses together never have all of what lasts,
 * downloads and live pages. Many addresses at central may be one proxy: there an address has more.
 *
 * Measured at a gateway, interpreted, with a year of 20 sensors (`./scripts/trials hostile readers`): src/web/server/README.md has time and memory of one request each.
 */
export const costTable = {
  /** A page of records, a short list. */
  light: {
    gateway: { turns: 4, all: 32, of_token: 8, of_address: 16, waiting_of_token: 64, waiting_of_address: 64 },
    central: {
      turns: 32,
      all: 512,
      of_token: 64,
      of_address: 256,
      waiting_of_token: 256,
      waiting_of_address: 512,
    },
  },
  /** A plot, a page for people, the events of a whole home. */
  heavy: {
    gateway: {
      turns: 2,
      all: 8,
      of_token: 2,
      of_address: 4,
      waiting_of_token: 32,
      waiting_of_address: 48,
      a_minute: 300,
    },
    central: {
      turns: 8,
      all: 64,
      of_token: 8,
      of_address: 32,
      waiting_of_token: 64,
      waiting_of_address: 256,
      a_minute: 1200,
    },
  },
  /** Readings or digests for a central that reads a gateway. */
  batch: {
    gateway: { turns: 1, all: 4, of_token: 2, of_address: 2, waiting_of_token: 8, waiting_of_address: 8 },
    central: {
      turns: 8,
      all: 64,
      of_token: 8,
      of_address: 32,
      waiting_of_token: 64,
      waiting_of_address: 256,
    },
  },
  /** A file that is read while it is sent. */
  download: {
    gateway: {
      turns: 8,
      all: 8,
      of_token: 2,
      of_address: 3,
      waiting_of_token: 4,
      waiting_of_address: 8,
    },
    central: {
      turns: 64,
      all: 64,
      of_token: 4,
      of_address: 31,
      waiting_of_token: 8,
      waiting_of_address: 64,
    },
  },
  /** A page that goes on: its server-sent events. None waits, because browsers come again. */
  live: {
    gateway: {
      turns: 100,
      all: 100,
      of_token: 20,
      of_address: 40,
      waiting_of_token: 0,
      waiting_of_address: 0,
    },
    central: {
      turns: 1000,
      all: 1000,
      of_token: 50,
      of_address: 400,
      waiting_of_token: 0,
      waiting_of_address: 0,
    },
  },
  /** The way in and the description of the interface, which need no token. The address alone counts. */
  open: {
    gateway: { turns: 2, all: 32, of_token: 0, of_address: 8, waiting_of_token: 0, waiting_of_address: 32 },
    central: {
      turns: 8,
      all: 256,
      of_token: 0,
      of_address: 64,
      waiting_of_token: 0,
      waiting_of_address: 128,
    },
  },
} as const satisfies Record<string, { readonly gateway: Cost; readonly central: Cost }>;

export type CostName = keyof typeof costTable;

/** The two sizes of machine that the table has a budget for. */
export type MachineScale = "gateway" | "central";
