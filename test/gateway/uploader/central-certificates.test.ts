import { expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { CentralCertificates } from "../../../src/gateway/uploader/central-certificates.ts";
import { issueCertificate } from "../../../src/web/server/tls-certificate.ts";
import { keptLog, temporaryDirectory } from "../../../testbed/sample.ts";

const [first, second, third] = [issued(), issued(), issued()] as const;

function issued(key?: string) {
  return issueCertificate({
    ...{ key, subject: "central", names: ["central.example"] },
    serial: crypto.getRandomValues(new Uint8Array(16)),
    ...{ notBefore_ms: 0, notAfter_ms: 4e12 },
  });
}

/** Each call reads what the one before has kept. */
function opener() {
  const temporary = temporaryDirectory();
  const directory = temporary.path;
  const { log, lines } = keptLog();
  const open = (configured = first.certificate) => new CentralCertificates({ configured, directory, log });
  const known = () => [open().inUse, open().next];
  return { open, known, lines, directory, [Symbol.dispose]: () => temporary[Symbol.dispose]() };
}

test("the next certificate is kept, and is the only one once central has shown it", () => {
  using opened = opener();
  const { open, known } = opened;
  expect(known()).toEqual([first.certificate, undefined]);
  open().offer(second.certificate);
  expect(known()).toEqual([first.certificate, second.certificate]);
  open().changed();
  expect(known()).toEqual([second.certificate, undefined]);
  open().offer(third.certificate);
  expect(open().report).toEqual({
    in_use: new X509Certificate(second.certificate).fingerprint256,
    next: new X509Certificate(third.certificate).fingerprint256,
  });
});

test("who holds the key in use cannot put another next certificate in the place of one that is known", () => {
  using opened = opener();
  const { open, known, lines } = opened;
  open().offer(second.certificate);
  const before = known();
  open().offer(third.certificate);
  expect(known()).toEqual(before);
  expect(lines.at(-1)).toStartWith("warn  central names another next certificate");
  const again = issued(second.key).certificate;
  open().offer(again);
  expect(known()).toEqual([first.certificate, again]);
});

test("what is no certificate changes nothing, and what is damaged falls back to the configuration's", () => {
  using opened = opener();
  const { open, known, directory } = opened;
  for (const text of [
    "",
    "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
    first.certificate,
  ])
    open().offer(text);
  expect(known()).toEqual([first.certificate, undefined]);
  open().offer(second.certificate);
  for (const text of ["{", "null", '{"configured":"x"}', "[]"]) {
    writeFileSync(join(directory, "central-certificates.json"), text);
    expect(known()).toEqual([first.certificate, undefined]);
  }
});

test("a certificate that a person puts in the place of the configuration's is taken at their word", () => {
  using opened = opener();
  const { open } = opened;
  open().offer(second.certificate);
  const replaced = open(third.certificate);
  expect([replaced.inUse, replaced.next]).toEqual([third.certificate, undefined]);
});
