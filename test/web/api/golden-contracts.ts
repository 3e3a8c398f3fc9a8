import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { applyPatch, createPatch, type Operation } from "rfc6902";
import type { Contract } from "../../../src/web/api/contract/openapi.ts";
import { type ApiVersion, newestVersion, versions } from "../../../src/web/api/versions.ts";

const directory = join(import.meta.dir, "../../golden/openapi");

/**
 * The contract that was agreed on for each version. The newest one is kept whole, and every older one as the changes that make it of the
 * next newer one (a JSON Patch, RFC 6902), so that a file shows what a version lacks, and nothing twice.
 */
export function goldenContracts(): Map<ApiVersion, Contract> {
  const contracts = new Map<ApiVersion, Contract>();
  let contract: unknown;
  for (const version of newestFirst) {
    const found: unknown = JSON.parse(readFileSync(fileOf(version), "utf8"));
    if (version === newestVersion) contract = found;
    else {
      contract = structuredClone(contract);
      const faults = applyPatch(contract, found as Operation[]).filter((fault) => fault !== null);
      if (faults.length > 0) throw new Error(`${fileOf(version)}: ${faults.join("; ")}`);
    }
    contracts.set(version, contract as Contract);
  }
  return contracts;
}

/** Writes the contracts as the ones that were agreed on. */
export function renewGoldenContracts(contracts: ReadonlyMap<ApiVersion, Contract>): void {
  let newer: Contract | undefined;
  for (const version of newestFirst) {
    const contract = contracts.get(version);
    if (contract === undefined) throw new Error(`version ${version} has no contract`);
    const content = newer === undefined ? contract : createPatch(newer, contract);
    writeFileSync(fileOf(version), `${linesOf(content)}\n`);
    newer = contract;
  }
}

function fileOf(version: ApiVersion): string {
  return join(directory, version === newestVersion ? `v${version}.json` : `v${version}.patch.json`);
}

/** JSON with a line for whatever fits into one, so that a change shows as the lines that it changes. */
function linesOf(value: unknown, indent = ""): string {
  const line = JSON.stringify(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= line_length_max)
    return line;
  const within = `${indent} `;
  const parts = Array.isArray(value)
    ? value.map((each) => linesOf(each, within))
    : Object.entries(value).map(([name, each]) => `${JSON.stringify(name)}: ${linesOf(each, within)}`);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  return `${open}\n${parts.map((part) => within + part).join(",\n")}\n${indent}${close}`;
}

const line_length_max = 120;
const newestFirst = versions.toReversed();
