import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { changeCertificate, keepNext, nextCertificateIn } from "../../src/central/next-certificate.ts";
import { type KeepingOptions, tlsFilesOf } from "../../src/web/server/self-signed.ts";
import { keptLog, temporaryDirectory } from "../../testbed/sample.ts";
import { TravellingClock } from "../drivers/travelling-clock.ts";

/** A central's directory, and what its starts do there. */
function directoryOfCentral() {
  const temporary = temporaryDirectory();
  const directory = temporary.path;
  const { log, lines } = keptLog();
  const keeping: KeepingOptions = {
    ...{ directory, directorySetting: "--tls-directory", listen: "0.0.0.0", log },
    ...{ clock: new TravellingClock(), machine: { hostname: "central", addresses: [] } },
  };
  const start = async ({
    names = [],
    clock = keeping.clock,
  }: Partial<KeepingOptions> & { names?: string[] } = {}) => {
    await keepNext(names, { ...keeping, clock });
    const { certificate } = await tlsFilesOf({ names }, { ...keeping, clock });
    return { in_use: readFileSync(certificate, "utf8"), next: nextCertificateIn(directory) ?? "" };
  };
  const path = (name: string) => join(directory, name);
  return { directory, start, lines, path, [Symbol.dispose]: () => temporary[Symbol.dispose]() };
}

test("the next certificate is there from the first start, outlives the one in use, and takes its place", async () => {
  using central = directoryOfCentral();
  const { directory, start, path } = central;
  const first = await start();
  expect(await start()).toEqual(first);
  const ends = (text: string) => new X509Certificate(text).validToDate.getUTCFullYear();
  expect(ends(first.next) - ends(first.in_use)).toBe(10);
  changeCertificate(directory);
  expect(nextCertificateIn(directory)).toBeUndefined();
  expect(existsSync(path("tls-next-key.pem"))).toBe(false);
  const second = await start();
  expect(second.in_use).toBe(first.next);
  expect(second.next).not.toBe(first.next);
});

test("a change that was cut off after the key is finished by whatever comes next", async () => {
  using central = directoryOfCentral();
  const { start, path } = central;
  const first = await start();
  renameSync(path("tls-next-key.pem"), path("tls-key.pem"));
  const second = await start();
  expect(second.in_use).toBe(first.next);
});

test.each([
  ["has expired", async (_: string) => new TravellingClock(Date.UTC(2037, 1, 1))],
  ["is missing", async (key: string) => void rmSync(key)],
])("the next one is used by itself where that in use %s", async (why, spoil) => {
  using central = directoryOfCentral();
  const { start, path, lines } = central;
  const first = await start();
  const clock = (await spoil(path("tls-key.pem"))) ?? undefined;
  const second = await start(clock && { clock });
  expect(second.in_use).toBe(first.next);
  expect(lines.filter((line) => line.startsWith("warn"))).toEqual([
    expect.stringMatching(`${why}: the next certificate is in use`),
  ]);
});

test("another name makes the next one again for the same key, which may not be a wrong one", async () => {
  using central = directoryOfCentral();
  const { directory, start, path } = central;
  const first = await start();
  const keyOf = (text: string) => new X509Certificate(text).publicKey.export({ type: "spki", format: "pem" });
  const second = await start({ names: ["central.example"] });
  expect(second.in_use).toBe(first.in_use);
  expect(new X509Certificate(second.next).checkHost("central.example")).toBe("central.example");
  expect(keyOf(second.next)).toBe(keyOf(first.next));

  // Its key lies in a safe: it stays as it is, and cannot be used.
  const key = readFileSync(path("tls-next-key.pem"));
  rmSync(path("tls-next-key.pem"));
  expect(await start({ names: ["another.example"] })).toEqual(second);
  for (const spoil of [
    () => {},
    () => writeFileSync(path("tls-next-key.pem"), readFileSync(path("tls-key.pem"))),
  ]) {
    spoil();
    expect(() => changeCertificate(directory)).toThrow(
      /tls-next-key.pem is not the key of .*, or one of them is missing: put the key back/,
    );
    expect(await start()).toEqual(second);
  }
  writeFileSync(path("tls-next-key.pem"), key);
  changeCertificate(directory);
  expect((await start()).in_use).toBe(second.next);
});
