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

/** A row of the table: of one token and of one address the requests that are under way at once, and those that wait. */
interface CostRow extends Pick<Cost, "turns" | "all" | "a_minute"> {
  readonly token: readonly [underWay: number, waiting: number];
  readonly address: readonly [underWay: number, waiting: number];
}

function cost<Row extends CostRow>({ token, address, ...others }: Row) {
  const [of_token, waiting_of_token] = token;
  const [of_address, waiting_of_address] = address;
  return { ...others, of_token, of_address, waiting_of_token, waiting_of_address };
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
    gateway: cost({ turns: 4, all: 32, token: [8, 64], address: [16, 64] }),
    central: cost({ turns: 32, all: 512, token: [64, 256], address: [256, 512] }),
  },
  /** A plot, a page for people, the events of a whole home. */
  heavy: {
    gateway: cost({ turns: 2, all: 8, token: [2, 32], address: [4, 48], a_minute: 300 }),
    central: cost({ turns: 8, all: 64, token: [8, 64], address: [32, 256], a_minute: 1200 }),
  },
  /** Readings or digests for a central that reads a gateway. */
  batch: {
    gateway: cost({ turns: 1, all: 4, token: [2, 8], address: [2, 8] }),
    central: cost({ turns: 8, all: 64, token: [8, 64], address: [32, 256] }),
  },
  /** A file that is read while it is sent. */
  download: {
    gateway: cost({ turns: 8, all: 8, token: [2, 4], address: [3, 8] }),
    central: cost({ turns: 64, all: 64, token: [4, 8], address: [31, 64] }),
  },
  /** A page or an answer to `since` that goes on: server-sent events. None waits, because readers come again. */
  live: {
    gateway: cost({ turns: 100, all: 100, token: [20, 0], address: [40, 0] }),
    central: cost({ turns: 1000, all: 1000, token: [50, 0], address: [400, 0] }),
  },
  /** The way in and the description of the interface, which need no token. The address alone counts. */
  open: {
    gateway: cost({ turns: 2, all: 32, token: [0, 0], address: [8, 32] }),
    central: cost({ turns: 8, all: 256, token: [0, 0], address: [64, 128] }),
  },
} as const satisfies Record<string, { readonly gateway: Cost; readonly central: Cost }>;

export type CostName = keyof typeof costTable;

/** The two sizes of machine that the table has a budget for. */
export type MachineScale = "gateway" | "central";
