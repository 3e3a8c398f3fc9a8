import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { join } from "node:path";
import { type RunningServer, Site } from "../../testbed/front-door.ts";

const openssl = Bun.which("openssl");
const skipped = openssl === null ? " (skipped: no openssl here)" : "";

/** The cipher that a client of OpenSSL and the server agree on, if the client offers these alone, however old; undefined: none. */
async function agreed(server: RunningServer, words: readonly string[]): Promise<string | undefined> {
  const { host } = new URL(server.url);
  const client = Bun.spawn([openssl ?? "", "s_client", "-connect", host, ...words], {
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const cipher = /Cipher is (\S+)/.exec(await new Response(client.stdout).text())?.[1];
  return cipher === "(NONE)" ? undefined : cipher;
}

const offering = (...ciphers: readonly string[]) => [
  "-tls1_2",
  "-cipher",
  `${ciphers.join(":")}:@SECLEVEL=0`,
];

/** Key algorithms of a certificate, and how a gateway comes by one. */
const certificates = [
  ["ECDSA", async (_: Site) => 'tls = "self-signed"'],
  [
    "RSA",
    async (site: Site) => {
      const [certificate, key] = [join(site.directory, "rsa.pem"), join(site.directory, "rsa-key.pem")];
      const words = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=a", "-days", "2"];
      Bun.spawnSync([openssl ?? "", ...words, "-out", certificate, "-keyout", key], { stderr: "ignore" });
      return `tls_certificate = "${certificate}"\ntls_key = "${key}"`;
    },
  ],
] as const;

describe.skipIf(openssl === null).each(certificates)(`TLS by an %s key${skipped}`, (algorithm, api) => {
  let site: Site;
  let server: RunningServer;
  beforeAll(async () => {
    site = new Site();
    site.configure({ api: await api(site) });
    server = await site.run();
  });
  afterAll(() => site.remove());

  test("takes ciphers that encrypt and authenticate in one, in TLS 1.2 and 1.3", async () => {
    for (const cipher of ["AES128-GCM-SHA256", "AES256-GCM-SHA384", "CHACHA20-POLY1305"]) {
      const whole = `ECDHE-${algorithm}-${cipher}`;
      expect(await agreed(server, offering(whole))).toBe(whole);
    }
    expect(await agreed(server, ["-tls1_3"])).toStartWith("TLS_");
  });

  test("refuses a client that has others alone", async () => {
    const own = `ECDHE-${algorithm}`;
    const older = ["AES128-SHA", "AES256-SHA", "AES128-SHA256", "AES256-SHA384"];
    for (const cipher of [
      ...older.map((name) => `${own}-${name}`),
      "AES128-SHA",
      "AES256-SHA",
      "AES128-GCM-SHA256",
    ])
      expect([cipher, await agreed(server, offering(cipher))]).toEqual([cipher, undefined]);
  });

  test("refuses TLS 1.0 and 1.1", async () => {
    for (const version of ["-tls1", "-tls1_1"])
      expect([version, await agreed(server, [version, "-cipher", "ALL:@SECLEVEL=0"])]).toEqual([
        version,
        undefined,
      ]);
  });
});
