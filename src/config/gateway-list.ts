import { dirname, resolve } from "node:path";
import { type Static, Type } from "@sinclair/typebox";
import { OperatorError } from "../base/errors.ts";
import { isServerAddress, tokenFileWarnings } from "./server-access.ts";
import {
  checkTable,
  checkValue,
  type Document,
  type DocumentKind,
  readDocument,
  unknownKey,
  where,
} from "./toml-document.ts";

/** Gateways that central reads by itself, because it can reach them. */
export interface GatewayList {
  /** How often each is read. */
  readonly every_ms: number;
  /** At most one for each home. */
  readonly gateways: readonly ListedGateway[];
  /** Faults that do not prevent a start, one line each. */
  readonly warnings: readonly string[];
}

export interface ListedGateway {
  readonly home: number;
  readonly url: string;
  /** Absolute paths: of a sync token of that gateway, and of its certificate where no authority vouches for it. */
  readonly token_file: string;
  readonly certificate?: string;
  /** Where it is listed: `/etc/lintel/gateways.toml line 7`. */
  readonly place: string;
}

/**
 * Reads and checks a list of gateways; relative paths in it are meant from where the file is.
 *
 * @throws OperatorError that names file, line and key, with the values that are allowed there
 */
export function readGatewayList(file: string): GatewayList {
  const document = readDocument(file, gatewayList);
  const { gateway: tables = [], every = default_every, ...others } = document.values;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownKey(document, [unknown], ["every", "gateway"]);
  checkValue(document, ["every"], everySchema, every);
  if (!Array.isArray(tables))
    throw new OperatorError(
      `${where(document, ["gateway"])}: gateway must be a list of sections`,
      "write [[gateway]] above the keys of each",
    );
  if (tables.length > gateways_max)
    throw new OperatorError(
      `${file} lists ${tables.length} gateways`,
      `${gateways_max} are the most that one central reads: have the others upload`,
    );
  const gateways = tables.map((table, place) => listed(document, place, table));
  requireDistinct(gateways);
  return {
    every_ms: milliseconds(String(every)) ?? 0,
    gateways,
    warnings: gateways.flatMap(({ token_file, place }) => tokenFileWarnings(token_file, place)),
  };
}

const everySchema = Type.String({ description: 'a time from one minute to a day, such as "30m" or "1h"' });

const gatewaySchema = Type.Object({
  home: Type.Integer({ minimum: 1, description: "the number of the home, 1 or above" }),
  url: Type.String({ description: 'an address such as "http://10.8.0.12:8080"' }),
  token_file: Type.String({ minLength: 1, description: "the path of a file" }),
  certificate: Type.Optional(Type.String({ minLength: 1, description: "the path of a PEM file" })),
});

const gatewayList: DocumentKind = {
  name: "gateway list",
  option: "--gateways",
  checks: { every: (text) => milliseconds(text) !== undefined, "gateway.url": isServerAddress },
};

function listed(document: Document, place: number, table: unknown): ListedGateway {
  const path = ["gateway", String(place)];
  checkTable(document, path, gatewaySchema, table);
  const { home, url, token_file, certificate } = table as Static<typeof gatewaySchema>;
  const absolute = (name: string) => resolve(dirname(resolve(document.file)), name);
  return {
    home,
    url,
    token_file: absolute(token_file),
    certificate: certificate && absolute(certificate),
    place: where(document, path),
  };
}

function requireDistinct(gateways: readonly ListedGateway[]): void {
  const seen = new Map<string, ListedGateway>();
  for (const gateway of gateways)
    for (const name of [`home ${gateway.home}`, new URL(gateway.url).href]) {
      const other = seen.get(name);
      if (other !== undefined)
        throw new OperatorError(
          `${gateway.place}: ${name} is listed already (${other.place})`,
          "a home has one gateway, and a gateway one home: take one of the two out",
        );
      seen.set(name, gateway);
    }
}

/** `90m` in milliseconds; undefined for a text that is no time, or not from a minute to a day. */
function milliseconds(text: string): number | undefined {
  const [, count, unit] = /^(\d{1,4})(m|h)$/.exec(text) ?? [];
  if (count === undefined) return undefined;
  const minutes = Number(count) * (unit === "h" ? 60 : 1);
  return minutes >= 1 && minutes <= 24 * 60 ? minutes * 60_000 : undefined;
}

const default_every = "1h";
const gateways_max = 10_000;
