import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { X509Certificate } from "node:crypto";
import { copyFileSync, cpSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openGatewayStore } from "../../src/store/sqlite/open-store.ts";
import { type LintelProcess, type RunningServer, Site } from "../../testbed/front-door.ts";
import { postgresServer } from "../../testbed/postgres/server.ts";
import { keptLog } from "../../testbed/sample.ts";
import { writerOfTests } from "../../testbed/sqlite/writer-here.ts";
import { TravellingClock } from "../drivers/travelling-clock.ts";
import { daysOfEvents } from "../gateway/uploader/programme.ts";

let site: Site;
beforeEach(() => {
  site = new Site();
});
afterEach(() => site.remove());

const fingerprintIn = (file: string) => new X509Certificate(readFileSync(file)).fingerprint256;

/** A request over TLS that trusts these certificates and no others; answers its status, or why there was no answer. */
async function asked(url: string, token: string, ca: string): Promise<number | string> {
  const headers = { authorization: `bearer ${token}`, accept: "application/json" };
  const answer = await fetch(`${url}/items`, { headers, tls: { ca } }).catch((fault) => fault);
  return answer instanceof Response ? answer.status : String(answer.code);
}

describe("a gateway with tls = self-signed", () => {
  const file = () => join(site.data, "tls-certificate.pem");
  const run = async (): Promise<RunningServer> => {
    site.configure({ api: 'tls = "self-signed"\ntls_names = ["gateway.example"]' });
    return await site.run();
  };

  test("serves those who trust its certificate, by each of its names, and tells its fingerprint", async () => {
    const gateway = await run();
    expect(gateway.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+\/v0\.9$/);
    const fingerprint = fingerprintIn(file());
    const token = await site.token();
    const ca = readFileSync(file(), "utf8");
    const named = gateway.url.replace("127.0.0.1", "localhost");
    expect(await asked(gateway.url, token, ca)).toBe(200);
    expect(await asked(named, token, ca)).toBe(200);
    const other = readFileSync(new URL("../golden/api-tls/certificate.pem", import.meta.url), "utf8");
    expect(await asked(gateway.url, token, other)).toBe("UNABLE_TO_VERIFY_LEAF_SIGNATURE");

    const tls = { certificate: file(), fingerprint };
    const running = await site.lintel("status", "--json", "--config", site.config);
    expect(JSON.parse(running.out)).toMatchObject({ running: true, tls });
    const doctor = await site.lintel("doctor", "--config", site.config);
    expect(doctor.out).toMatch(/^✓ \[api\] TLS certificate and key belong together; 36\d\d days left$/m);
    expect(await gateway.stop()).toBe(0);
    expect((await gateway.process.said()).split(fingerprint)).toHaveLength(2);
    const stopped = await site.lintel("status", "--json", "--config", site.config);
    expect(JSON.parse(stopped.out)).toMatchObject({ running: false, tls });
    const shown = await site.lintel("status", "--config", site.config);
    expect(shown.out).toContain(`TLS  certificate ${file()}\n  SHA-256 fingerprint ${fingerprint}\n`);
  });

  test("has the same certificate after a kill, and as the box that a backup makes of another", async () => {
    const first = await run();
    const fingerprint = fingerprintIn(file());
    await first.stop("SIGKILL");
    await (await site.run()).stop();
    expect(fingerprintIn(file())).toBe(fingerprint);

    const backup = join(site.directory, "stick");
    const made = await site.lintel("backup", backup, "--config", site.config);
    expect([made.code, made.said]).toEqual([0, expect.stringContaining("3 other files")]);
    const spare = new Site();
    try {
      const restored = await spare.lintel("restore", backup, "--data", spare.data);
      expect([restored.code, restored.said]).toEqual([0, expect.any(String)]);
      spare.configure({ api: 'tls = "self-signed"\ntls_names = ["gateway.example"]' });
      const gateway = await spare.run();
      const ca = readFileSync(file(), "utf8");
      expect(await asked(gateway.url, await spare.token(), ca)).toBe(200);
      await gateway.stop();
    } finally {
      await spare.remove();
    }
  });

  test("lintel fetch takes its certificate by --certificate, and says so where it was not given", async () => {
    const gateway = await run();
    const token = join(site.directory, "token");
    writeFileSync(token, await site.token());
    const words = [
      "fetch",
      "--url",
      gateway.url,
      "--token-file",
      token,
      "--output",
      join(site.directory, "out"),
    ];
    const refused = await site.lintel(...words);
    expect([refused.code, refused.said]).toEqual([
      2,
      expect.stringMatching(
        /has a certificate that no authority vouches for .*: name the certificate of the server with --certificate FILE/,
      ),
    ]);
    const fetched = await site.lintel(...words, "--json", "--certificate", file());
    expect([fetched.code, fetched.said]).toEqual([0, expect.stringMatching(/^Made the key [^\n]*\n$/)]);
    const damaged = await site.lintel(...words, "--certificate", token);
    expect([damaged.code, damaged.said]).toEqual([
      2,
      expect.stringMatching(
        /^lintel: \S+token cannot be read as a certificate \(.*\): name a PEM file .*: .*\n$/,
      ),
    ]);
  });

  test("whose key is damaged says so in one line and exit 2, and leaves both files", async () => {
    await (await run()).stop();
    const fingerprint = fingerprintIn(file());
    writeFileSync(join(site.data, "tls-key.pem"), "");
    const end = await site.lintel("run", "--config", site.config);
    expect(end.code).toBe(2);
    expect(end.said.trimEnd().split("\n").at(-1)).toMatch(
      /^lintel: \S+tls-key\.pem is damaged \(.*\): put both back/,
    );
    expect(fingerprintIn(file())).toBe(fingerprint);
    const doctor = await site.lintel("doctor", "--config", site.config);
    expect(doctor.code).toBe(1);
  });
});

describe("central with --tls self-signed", () => {
  async function central(...words: string[]): Promise<{ process: LintelProcess; url: string }> {
    const listen = ["--listen", "127.0.0.1", "--port", "0", "--json"];
    const process = site.spawn(["central", "--tls", "self-signed", ...listen, ...words]);
    const line = await process.line();
    if (line === undefined) throw new Error(`central did not start: ${await process.said()}`);
    return { process, ...(JSON.parse(line) as { url: string }) };
  }

  /** A gateway's data with 100 readings, and a configuration that uploads with this certificate. */
  async function gatewayFor(url: string, store: readonly string[], certificate: string): Promise<void> {
    const { log } = keptLog();
    const gateway = await openGatewayStore({
      directory: site.data,
      clock: new TravellingClock(),
      log,
      ...writerOfTests(),
    });
    await gateway.append(daysOfEvents({ from_ms: Date.UTC(2026, 10, 1), days: 2, count: 100 }));
    await gateway.close();
    const words = ["token", "create", "home-7", "--scope", "sync", "--home", "7", "--json"];
    const { token } = JSON.parse((await site.lintel(...words, ...store)).out) as { token: string };
    writeFileSync(join(site.directory, "token"), token, { mode: 0o600 });
    copyFileSync(certificate, join(site.directory, "central.pem"));
    site.configure({
      sections: `[upload]\nurl = "${new URL(url).origin}"\ntoken_file = "token"\ncertificate = "central.pem"`,
    });
  }

  test("takes the upload of a gateway that was given its certificate, and of no other", async () => {
    const data = join(site.directory, "central");
    const store = ["--data", data];
    const { process, url } = await central(...store, "--tls-names", "central.example,10.8.0.1");
    const file = join(data, "tls-certificate.pem");
    await gatewayFor(url, store, file);
    const upload = await site.lintel("upload", "--config", site.config, "--json");
    expect([upload.code, upload.out]).toEqual([0, '{"sent":100,"confirmed_seq":100,"differing_days":0}']);

    const certificate = new X509Certificate(readFileSync(file));
    expect(certificate.checkHost("central.example")).toBe("central.example");
    expect(certificate.checkIP("10.8.0.1")).toBe("10.8.0.1");
    const status = await site.lintel("status", "--json", ...store);
    expect(JSON.parse(status.out)).toMatchObject({
      role: "central",
      tls: { certificate: file, fingerprint: certificate.fingerprint256 },
    });
    process.kill("SIGTERM");
    expect(await process.exited).toBe(0);
    expect((await process.said()).split(certificate.fingerprint256)).toHaveLength(2);

    // Who takes the place of central without its keys is found out, although it has every name of central.
    for (const name of ["tls-key.pem", "tls-next-key.pem", "tls-next-certificate.pem"])
      rmSync(join(data, name));
    const port = new URL(url).port;
    await central(...store, "--port", port);
    const refused = await site.lintel("upload", "--config", site.config, "--json");
    expect([refused.code, refused.said]).toEqual([
      2,
      expect.stringContaining("shows another certificate than the one in [upload] certificate"),
    ]);
  });

  test("changes to the next certificate once the homes know it, and the key before is worth nothing then", async () => {
    const data = join(site.directory, "central");
    const store = ["--data", data];
    const first = await central(...store);
    const port = new URL(first.url).port;
    await gatewayFor(first.url, store, join(data, "tls-certificate.pem"));
    const stolen = join(site.directory, "stolen");
    cpSync(data, stolen, { recursive: true });
    const change = () => site.lintel("central", "certificate", ...store, "--change");
    const upload = () => site.lintel("upload", "--config", site.config);
    const restart = async (before: LintelProcess, directory = data) => {
      before.kill("SIGTERM");
      expect(await before.exited).toBe(0);
      return (await central("--data", directory, "--port", port)).process;
    };

    expect(await change()).toMatchObject({
      code: 2,
      said: expect.stringContaining("home 7 would be cut off: the next certificate is not known there yet"),
    });
    expect(await upload()).toMatchObject({ code: 0, said: expect.stringContaining("took central's next") });
    // The last report of an upload says it.
    expect(await site.answer("central", "certificate", ...store, "--json")).toMatchObject({
      ...{ ready: [7], not_ready: [], changed: false },
    });
    expect(await change()).toMatchObject({ code: 0, out: expect.stringContaining("restart central now") });
    const second = await restart(first.process);
    expect(await upload()).toMatchObject({
      code: 0,
      said: expect.stringMatching(/central has changed to its next certificate(.|\n)*took central's next/),
    });

    const thief = await restart(second, stolen);
    expect(await upload()).toMatchObject({
      code: 2,
      said: expect.stringContaining("shows another certificate than the one"),
    });
    await restart(thief);
    expect((await upload()).code).toBe(0);
  });

  test("on PostgreSQL keeps it in the directory that is named", async () => {
    await using database = await (await postgresServer()).database();
    const store = ["--database", database.url];
    const directory = join(site.directory, "state/tls");
    const first = await central(...store, "--tls-directory", directory);
    const file = join(directory, "tls-certificate.pem");
    await gatewayFor(first.url, store, file);
    const upload = await site.lintel("upload", "--config", site.config, "--json");
    expect([upload.code, upload.out]).toEqual([0, '{"sent":100,"confirmed_seq":100,"differing_days":0}']);
    const fingerprint = fingerprintIn(file);
    first.process.kill("SIGKILL");
    await first.process.exited;
    const again = await central(...store, "--tls-directory", directory);
    expect(fingerprintIn(file)).toBe(fingerprint);
    again.process.kill("SIGTERM");
    expect(await again.process.exited).toBe(0);
  });

  test.each([
    [["--tls", "self-signed", "--tls-key", "k"], /--tls and --tls-key both say what TLS is served with: /],
    [
      ["--tls-names", "a.example"],
      /--tls-names is for a certificate that the server makes: give --tls "self-signed" too/,
    ],
    [
      ["--tls-directory", "d"],
      /--tls-directory is for a certificate that the server makes: give --tls "self-signed" too/,
    ],
    [
      ["--tls", "self-signed", "--tls-names", "https://x"],
      /--tls-names has "https:\/\/x": it must be a host name or an IP address/,
    ],
    [["--tls", "yes"], /self-signed/],
    [
      ["--tls", "self-signed", "--tls-directory", "/sys/kernel"],
      /cannot be kept in \/sys\/kernel .*, or set --tls-directory to another directory$/,
    ],
  ])("%j is refused", async (words, said) => {
    const data = join(site.directory, "central");
    const end = await site.lintel("central", "--port", "0", "--data", data, ...words);
    expect([end.code, end.out]).toEqual([2, ""]);
    expect(end.said.trimEnd().split("\n").at(-1)).toMatch(said);
    expect(existsSync(join(data, "tls-key.pem"))).toBe(false);
  });
});
