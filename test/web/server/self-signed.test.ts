import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { clockQuality } from "../../../src/base/clock.ts";
import { GuardedClock } from "../../../src/base/guarded-clock.ts";
import { day_ms } from "../../../src/base/time.ts";
import {
  type KeepingOptions,
  ownCertificateIn,
  ownFiles,
  tlsFilesOf,
} from "../../../src/web/server/self-signed.ts";
import { issueCertificate } from "../../../src/web/server/tls-certificate.ts";
import { keptLog } from "../../../testbed/sample.ts";
import { TravellingClock } from "../../drivers/travelling-clock.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-tls-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const machine = { hostname: "pi", addresses: ["192.168.1.7", "2001:db8::7"] };

async function keep(
  options: Partial<KeepingOptions> & { names?: readonly string[] } = {},
): Promise<{ certificate: X509Certificate; lines: string[] }> {
  const { log, lines } = keptLog();
  const { names = [], ...given } = options;
  const files = await tlsFilesOf(
    { names },
    {
      directory,
      directorySetting: "data",
      listen: "0.0.0.0",
      clock: new TravellingClock(),
      log,
      machine,
      ...given,
    },
  );
  expect(files).toEqual(ownFiles(given.directory ?? directory));
  return { certificate: new X509Certificate(readFileSync(files.certificate)), lines };
}

async function fault(options: Partial<KeepingOptions> = {}): Promise<string> {
  const thrown = await keep(options).catch((thrown: Error) => thrown);
  if (!(thrown instanceof Error)) throw new Error("nothing was amiss");
  return thrown.message.replaceAll(directory, "<directory>");
}

function held(): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory).map((name) => [name, readFileSync(join(directory, name), "utf8")]),
  );
}

test("the first start makes a certificate for everything this machine is called, closed to other users", async () => {
  const { certificate, lines } = await keep({ names: ["gateway.example"], listen: "10.8.0.12" });
  expect(certificate.subjectAltName).toBe(
    "DNS:gateway.example, DNS:pi, DNS:pi.local, DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1, IP Address:10.8.0.12, IP Address:192.168.1.7, IP Address:2001:DB8:0:0:0:0:0:7",
  );
  for (const name of ["tls-certificate.pem", "tls-key.pem"])
    expect(statSync(join(directory, name)).mode & 0o777).toBe(0o600);
  expect(lines).toEqual([
    expect.stringContaining(
      "info  made a self-signed TLS certificate, valid until 2036-11-19, for gateway.example, pi,",
    ),
    `info  TLS by the certificate ${directory}/tls-certificate.pem, SHA-256 fingerprint ${certificate.fingerprint256}`,
  ]);
});

test("it stays the same over starts, and each says its fingerprint once", async () => {
  const first = await keep();
  const files = held();
  const second = await keep({ clock: new TravellingClock(Date.UTC(2036, 10, 18)) });
  expect(held()).toEqual(files);
  expect(second.lines).toEqual(first.lines.slice(1));
  expect(ownCertificateIn(directory)).toEqual({
    certificate: join(directory, "tls-certificate.pem"),
    fingerprint: first.certificate.fingerprint256,
  });
});

test.each([
  ["that a machine without a battery begins with", 0],
  ["of the year before it is installed", Date.UTC(2025, 5, 1)],
])("one made by the clock %s is valid now, and for ten years", async (_, from_ms) => {
  const clock = new TravellingClock(from_ms);
  clock.quality = clockQuality.unsynchronised;
  const { certificate } = await keep({ clock });
  expect(Date.parse(certificate.validFrom)).toBe(Date.UTC(2020, 0, 1));
  expect(Date.parse(certificate.validTo)).toBeGreaterThan(Date.UTC(2035, 11, 1));
});

/** The public half of a key, by which clients pin it (RFC 7469). */
const pin = ({ publicKey }: X509Certificate) =>
  publicKey.export({ type: "spki", format: "der" }).toString("hex");

test("an expired one is renewed for the same key, but not by a clock that nothing confirms", async () => {
  const { certificate } = await keep();
  const key = held()["tls-key.pem"];
  const later = new TravellingClock(Date.UTC(2037, 0, 1));
  later.quality = clockQuality.unsynchronised;
  expect((await keep({ clock: later })).certificate.fingerprint256).toBe(certificate.fingerprint256);
  later.quality = clockQuality.synchronised;
  const renewed = await keep({ clock: later });
  expect(renewed.certificate.fingerprint256).not.toBe(certificate.fingerprint256);
  expect([pin(renewed.certificate), held()["tls-key.pem"]]).toEqual([pin(certificate), key]);
  expect(Date.parse(renewed.certificate.validTo)).toBeGreaterThan(later.true_ms() + 3_650 * day_ms);
  expect(renewed.lines[0]).toMatch(
    /^warn {2}the TLS certificate \S+ expired on .*2036.*: another is made for the same key, /,
  );
});

test("a time server that says 2038, and a restart, change neither certificate nor key; a person who confirms that it is 2038 renews the certificate for the same key", async () => {
  const { certificate } = await keep();
  const files = held();
  const spoofed = new TravellingClock(Date.UTC(2038, 0, 20));
  const clock = () => new GuardedClock({ clock: spoofed, directory });
  const { lines } = await keep({ clock: clock() });
  expect(held()).toEqual(files);
  expect(lines).toEqual([expect.stringContaining(certificate.fingerprint256)]);
  expect(clock().doubt()?.what).toContain("The clock of this machine shows 2038-01-20");
  clock().confirm(spoofed.true_ms());
  const renewed = await keep({ clock: clock() });
  expect(renewed.certificate.fingerprint256).not.toBe(certificate.fingerprint256);
  expect(pin(renewed.certificate)).toBe(pin(certificate));
});

test("another certificate is made for the same key where the certificate is missing, and that is said", async () => {
  const { certificate } = await keep();
  rmSync(join(directory, "tls-certificate.pem"));
  const again = await keep();
  expect(again.certificate.fingerprint256).not.toBe(certificate.fingerprint256);
  expect(pin(again.certificate)).toBe(pin(certificate));
  expect(again.lines[0]).toContain(
    `${join(directory, "tls-certificate.pem")} is missing: another is made for the same key, and clients `,
  );
});

test("another key is made only where that is missing, and that is said", async () => {
  const { certificate } = await keep();
  rmSync(join(directory, "tls-key.pem"));
  const again = await keep();
  expect(pin(again.certificate)).not.toBe(pin(certificate));
  expect(again.lines[0]).toContain(
    `${join(directory, "tls-key.pem")} is missing: another is made, with another key, and clients `,
  );
});

describe("what is damaged is one line with a remedy, and stays as it is:", () => {
  const remedy =
    "put both back from a backup, or remove <directory>/tls-certificate.pem and <directory>/tls-key.pem: another certificate is made then, which clients have to be told";
  const cut = (name: string, length: number) => {
    const path = join(directory, name);
    writeFileSync(path, readFileSync(path, "utf8").slice(0, length));
  };
  test.each<[string, () => void, RegExp]>([
    [
      "an empty certificate",
      () => cut("tls-certificate.pem", 0),
      /^<directory>\/tls-certificate\.pem is damaged \(.*\)/,
    ],
    [
      "half a certificate",
      () => cut("tls-certificate.pem", 300),
      /^<directory>\/tls-certificate\.pem is damaged \(.*\)/,
    ],
    ["half a key", () => cut("tls-key.pem", 100), /^<directory>\/tls-key\.pem is damaged \(.*\)/],
    [
      "the key of another",
      () => {
        const names = ["pi"];
        const serial = new Uint8Array(16).fill(1);
        const other = issueCertificate({ subject: "x", names, serial, notBefore_ms: 0, notAfter_ms: day_ms });
        writeFileSync(join(directory, "tls-key.pem"), other.key);
      },
      /^TLS key <directory>\/tls-key\.pem does not belong to certificate <directory>\/tls-certificate\.pem/,
    ],
  ])("%s", async (_, damage, said) => {
    await keep();
    damage();
    const files = held();
    const message = await fault();
    expect(message).toMatch(said);
    expect(message).toEndWith(`: ${remedy}`);
    expect(held()).toEqual(files);
    const shown = ownCertificateIn(directory);
    expect(JSON.stringify(shown).replaceAll(directory, "<directory>")).toContain(remedy);
  });

  test("a file that cannot be read, and a directory that cannot be written", async () => {
    await keep();
    rmSync(join(directory, "tls-key.pem"));
    mkdirSync(join(directory, "tls-key.pem"));
    expect(await fault()).toMatch(/^<directory>\/tls-key\.pem cannot be read \(.*\): make it a file that/);
    // Not even by root, as which tests often run.
    expect(await fault({ directory: "/sys/kernel", directorySetting: "--tls-directory" })).toMatch(
      /^the TLS certificate cannot be kept in \/sys\/kernel \(.*\): give this user write access to it, or set --tls-directory to another directory$/,
    );
  });
});

test("a start that was cut off while it renewed makes another", async () => {
  await keep();
  // The certificate goes first, and comes last.
  rmSync(join(directory, "tls-certificate.pem"));
  writeFileSync(join(directory, "tls-key.pem.new"), "half of a key");
  const { certificate } = await keep();
  expect((await keep()).certificate.fingerprint256).toBe(certificate.fingerprint256);
});

test("a name that the machine has got since is said, because clients that use it refuse the certificate", async () => {
  await keep({ names: ["gateway.example"] });
  const moved = { hostname: "attic", addresses: ["192.168.1.8", "2001:db8::8"] };
  const { lines } = await keep({ names: ["gateway.example", "second.example"], machine: moved });
  expect(lines[0]).toMatch(
    /^warn {2}the TLS certificate \S+ is not for second\.example, attic, attic\.local, 192\.168\.1\.8: clients /,
  );
  expect(lines).toHaveLength(2);
});

test("a machine without a name that can be in a certificate has one for its addresses", async () => {
  const { certificate } = await keep({ machine: { hostname: "", addresses: [] } });
  expect(certificate.subjectAltName).toBe("DNS:localhost, IP Address:127.0.0.1, IP Address:0:0:0:0:0:0:0:1");
});
