import { afterAll, describe, expect, test } from "bun:test";
import { createPrivateKey, X509Certificate } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addressBytes, type Issued, issueCertificate } from "../../../src/web/server/tls-certificate.ts";
import { seeded } from "../../../testbed/sample.ts";

const directory = mkdtempSync(join(tmpdir(), "lintel-tls-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const notBefore_ms = Date.UTC(2020, 0, 1);

function issue(options: Partial<Parameters<typeof issueCertificate>[0]> = {}): Issued {
  return issueCertificate({
    subject: "Lintel pi",
    names: ["pi", "pi.local", "localhost", "127.0.0.1", "::1", "fd12:3::4:5"],
    serial: crypto.getRandomValues(new Uint8Array(16)),
    notBefore_ms,
    notAfter_ms: Date.UTC(2036, 10, 20),
    ...options,
  });
}

function openssl(words: readonly string[], input?: string): string {
  const { stdout, stderr, exitCode } = Bun.spawnSync(["openssl", ...words], {
    stdin: Buffer.from(input ?? ""),
  });
  expect({ exitCode, said: exitCode === 0 ? "" : stderr.toString() }).toEqual({ exitCode: 0, said: "" });
  return stdout.toString();
}

test("a certificate is signed by its own key, is no authority, and is for its names and no others", () => {
  const issued = issue();
  const certificate = new X509Certificate(issued.certificate);
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  expect(certificate.checkPrivateKey(createPrivateKey(issued.key))).toBe(true);
  expect(certificate.ca).toBe(false);
  expect(certificate.publicKey.asymmetricKeyDetails?.namedCurve).toBe("prime256v1");
  for (const name of ["pi", "PI.local", "localhost"]) expect(certificate.checkHost(name)).toBeDefined();
  for (const name of ["gateway", "local", "x.pi"]) expect(certificate.checkHost(name)).toBeUndefined();
  for (const address of ["127.0.0.1", "::1", "fd12:3:0::4:5"])
    expect(certificate.checkIP(address)).toBeDefined();
  for (const address of ["127.0.0.2", "::2"]) expect(certificate.checkIP(address)).toBeUndefined();
});

test("two for the same names have nothing in common", () => {
  const [one, other] = [issue(), issue()].map(({ certificate }) => new X509Certificate(certificate));
  expect(one?.fingerprint256).not.toBe(other?.fingerprint256);
  expect(one?.serialNumber).not.toBe(other?.serialNumber);
  expect(one?.verify(other?.publicKey ?? one.publicKey)).toBe(false);
});

test.each([
  ["2036-11-20T23:59:58Z"],
  ["2049-12-31T23:59:59Z"],
  ["2050-01-01T00:00:00Z"],
  ["2109-02-28T01:02:03Z"],
])("its end at %s is read as that", (end) => {
  const { certificate } = issue({ notAfter_ms: Date.parse(end) });
  const parsed = new X509Certificate(certificate);
  expect(Date.parse(parsed.validTo)).toBe(Date.parse(end));
  expect(Date.parse(parsed.validFrom)).toBe(notBefore_ms);
});

test("serial numbers are read as they are given, whatever their first bits", () => {
  for (const first of ["00", "01", "7f", "80", "ff"]) {
    const { certificate } = issue({ serial: Uint8Array.fromHex(`${first}00112233445566778899aabbccddee`) });
    const { serialNumber } = new X509Certificate(certificate);
    expect(BigInt(`0x${serialNumber}`)).toBe(BigInt(`0x${first}00112233445566778899aabbccddee`));
  }
});

test("addresses of every form become their bytes", () => {
  const random = seeded(7);
  for (let round = 0; round < 500; round += 1) {
    // Many zeros, so that they are shortened in every place.
    const groups = Array.from({ length: 8 }, () => (random() < 0.5 ? 0 : Math.floor(random() * 0x1_00_00)));
    const expected = groups.map((group) => group.toString(16).padStart(4, "0")).join("");
    const plain = groups.map((group) => group.toString(16)).join(":");
    const short = new URL(`http://[${plain}]`).hostname.slice(1, -1);
    for (const form of [plain, short]) expect(addressBytes(form).toHex()).toBe(expected);
  }
  expect(addressBytes("192.168.1.7").toHex()).toBe("c0a80107");
  expect(addressBytes("::ffff:192.168.1.7").toHex()).toBe("00000000000000000000ffffc0a80107");
  expect(addressBytes("::").toHex()).toBe("0".repeat(32));
});

describe.skipIf(Bun.which("openssl") === null)("OpenSSL", () => {
  test("takes it by the letter of RFC 5280, with 64 names of any length, for the purpose of a server", () => {
    const names = Array.from({ length: 64 }, (_, index) => `${"name-".repeat(index)}${index}.example`);
    for (const issued of [issue(), issue({ names }), issue({ subject: "ü".repeat(32), names: ["::"] })]) {
      const path = join(directory, "certificate.pem");
      writeFileSync(path, issued.certificate);
      const strict = ["verify", "-x509_strict", "-check_ss_sig", "-purpose", "sslserver"];
      expect(openssl([...strict, "-CAfile", path, path])).toBe(`${path}: OK\n`);
    }
  });

  test("reads the same fingerprint, names and uses, and writes the same bytes again", () => {
    const { certificate, key } = issue();
    const words = [
      "x509",
      "-noout",
      "-fingerprint",
      "-sha256",
      "-ext",
      "subjectAltName,keyUsage,extendedKeyUsage",
    ];
    const text = openssl(words, certificate);
    expect(text).toContain(`Fingerprint=${new X509Certificate(certificate).fingerprint256}\n`);
    expect(text).toContain("DNS:pi, DNS:pi.local, DNS:localhost, IP Address:127.0.0.1, ");
    expect(text).toMatch(/X509v3 Key Usage: critical\s+Digital Signature\n/);
    expect(text).toContain("TLS Web Server Authentication\n");
    expect(openssl(["x509"], certificate)).toBe(certificate);
    expect(openssl(["pkey"], key)).toBe(key);
  });
});
