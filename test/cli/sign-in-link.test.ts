import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { isIPv4 } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { defaultInterface, hostInNetwork } from "../../src/web/server/self-signed.ts";
import { issueCertificate } from "../../src/web/server/tls-certificate.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { type RunningServer, Site } from "../../testbed/front-door.ts";
import { onScreen, qrLines, readQr } from "./qr-screen.ts";

const site = new Site();
const running: RunningServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});
afterAll(() => site.remove());

const create = (...words: string[]) => ["token", "create", "maria", ...words];
const on = (name: string) => ["--data", join(site.directory, name)];

/** The link that the command answers with these words. */
async function linkOf(...words: string[]): Promise<{ link: URL; token: string }> {
  const { link, token } = await site.answer(...create("--json", "--link", ...words));
  expect(link).toEndWith(`/#token=${token}`);
  return { link: new URL(link), token };
}

describe("lintel token create --link", () => {
  test("prints the link beside the token; without it, the token alone", async () => {
    const made = await site.answer(...create("--json", "--new", ...on("own")));
    expect(Object.keys(made)).toEqual(["id", "token"]);
    const address = ["--link", "https://home.example:8090/"];
    const linked = await site.answer(...create("--json", ...address, ...on("own")));
    expect(linked).toEqual({
      id: expect.any(String),
      token: expect.stringMatching(/^[a-z2-9]{12}\.[\w-]{43}$/),
      link: `https://home.example:8090/#token=${linked.token}`,
    });
    const { out, said } = await site.lintel(...create(...address, "--scope", "admin", ...on("own")));
    const [token, link, ...more] = out.split("\n");
    expect([link, more]).toEqual([`https://home.example:8090/#token=${token}`, []]);
    expect(said).toMatch(/^This token of maria \(id \w{12}, admin\) never expires/);
    expect(said).toContain("The link has the token in it: give it to nobody else.");
  });

  test.each([
    [
      ["--link", "--scope", "sync", "--home", "12"],
      "a sync token opens no pages: leave --link out, or make a read or admin token",
    ],
    ...[
      "gateway.local:8080",
      "ftp://gateway.local",
      "https://gateway.local/#a",
      "https://gateway.local/v0.9",
      "https://maria@gateway.local",
      `https://${"a".repeat(300)}`,
    ].map((url): [string[], string] => [
      ["--link", url],
      `option '--link [url]' argument '${url}' is invalid. It must be the address of the pages alone, such as https://central.example:8090; the name of the token stands before --link: see lintel token create --help`,
    ]),
  ] satisfies [string[], string][])("%p is refused before anything is made", async (words, said) => {
    const { code, ...rest } = await lintelHere(create(...words, "--new", ...on("refused")));
    expect([code, rest]).toEqual([2, { out: "", said: `lintel: ${said}\n` }]);
    expect(existsSync(join(site.directory, "refused"))).toBe(false);
  });
});

describe("the address in the link", () => {
  test("is that of the running gateway, and its token is taken there", async () => {
    site.configure();
    const gateway = await site.run();
    running.push(gateway);
    for (const store of [
      ["--config", site.config],
      ["--data", site.data],
    ]) {
      const { link, token } = await linkOf(...store);
      expect(link.origin).toBe(gateway.origin);
      expect((await gateway.get("/items", token)).status).toBe(200);
    }
  });

  test("is one in its network, where the running gateway listens on every address", async () => {
    site.configure({ listen: "0.0.0.0:0" });
    const gateway = await site.run();
    running.push(gateway);
    const { link, token } = await linkOf("--data", site.data);
    const own = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const reached = own.filter(({ internal, address }) => !internal && isIPv4(address));
    const possible = reached.length === 0 ? ["127.0.0.1"] : reached.map(({ address }) => address);
    expect(possible).toContain(link.hostname);
    expect(link.port).toBe(new URL(gateway.url).port);
    const asked = await fetch(new URL("/v0.9/items", link), {
      headers: { authorization: `bearer ${token}`, accept: "application/json" },
    });
    expect(asked.status).toBe(200);
  });

  test("is that of the configuration, where no gateway runs", async () => {
    const certificate = join(site.directory, "given.pem");
    const key = join(site.directory, "given-key.pem");
    const issued = issueCertificate({
      subject: "a test",
      names: ["10.8.0.12", "given.example"],
      serial: new Uint8Array(16).fill(7),
      notBefore_ms: 0,
      notAfter_ms: 4e12,
    });
    writeFileSync(certificate, issued.certificate);
    writeFileSync(key, issued.key);
    const given = `tls_certificate = "${certificate}"\ntls_key = "${key}"`;
    const named = 'tls = "self-signed"\ntls_names = ["named.example"]';
    const cases: [listen: string, api: string, origin: string][] = [
      ["127.0.0.1:8123", "", "http://127.0.0.1:8123"],
      ["192.0.2.7:8123", "", "http://192.0.2.7:8123"],
      ["[2001:db8::7]:80", "", "http://[2001:db8::7]"],
      ["192.0.2.7:443", 'tls = "self-signed"', "https://192.0.2.7"],
      ["0.0.0.0:8123", named, "https://named.example:8123"],
      // Browsers take no other name with a certificate of an authority.
      ["0.0.0.0:8123", given, "https://given.example:8123"],
      ["127.0.0.1:8123", given, "https://127.0.0.1:8123"],
      ["192.0.2.7:8123", given.replaceAll("given", "gone"), "https://192.0.2.7:8123"],
    ];
    for (const [listen, api, origin] of cases) {
      site.configure({ listen, api });
      expect((await linkOf("--config", site.config)).link.origin).toBe(origin);
    }
  });

  test("must be given where nothing says it: to central, to a data directory alone, for any free port", async () => {
    running.push(await site.central(...on("central")));
    site.configure({ listen: "0.0.0.0:0" });
    const remedies = "give the address to --link, such as --link https://gateway.local:8080";
    const cases: [store: string[], said: string][] = [
      [
        on("central"),
        "the store of central does not say where its pages are reached: give the address to --link, such as --link https://central.example:8090",
      ],
      [
        ["--database", "postgres://lintel@127.0.0.1:1/lintel"],
        "the store of central does not say where its pages are reached: give the address to --link, such as --link https://central.example:8090",
      ],
      [
        ["--config", site.config],
        `no gateway is running on ${site.data}, and by its configuration it takes any free port: start it, or ${remedies}`,
      ],
      [
        ["--data", site.data],
        `no gateway is running on ${site.data}, and nothing else says where its pages are reached: start it, name its configuration with --config, or ${remedies}`,
      ],
    ];
    for (const [store, said] of cases)
      expect(await site.lintel(...create("--link"), ...store)).toEqual({
        code: 2,
        out: "",
        said: `lintel: ${said}\n`,
      });
    expect(await site.answer("token", "list", "--json", ...on("central"))).toEqual([]);
    const given = await linkOf("https://central.example:8090", ...on("central"));
    expect(given.link.origin).toBe("https://central.example:8090");
  });

  test("is of the interface that leads out of the home, and IPv4 before IPv6", () => {
    const header = "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT";
    const route = (name: string, to: string, metric: number, mask: string) =>
      `${name}\t${to}\t0101A8C0\t0003\t0\t0\t${metric}\t${mask}\t0\t0\t0   `;
    const table = [
      header,
      route("docker0", "000011AC", 0, "0000FFFF"),
      route("wlan0", "00000000", 600, "00000000"),
      route("eth0", "00000000", 100, "00000000"),
    ].join("\n");
    expect([defaultInterface(`${table}\n`), defaultInterface(header)]).toEqual(["eth0", undefined]);
    const machine = { hostname: "box", addresses: ["2001:db8::5", "192.168.1.20"] };
    const hosts = ["0.0.0.0", "::"].map((listen) => hostInNetwork({ given: [], listen, machine }));
    expect(hosts).toEqual(["192.168.1.20", "192.168.1.20"]);
    const only6 = { hostname: "box", addresses: ["2001:db8::5"] };
    expect(hostInNetwork({ given: [], listen: "::", machine: only6 })).toBe("2001:db8::5");
    expect(hostInNetwork({ given: [], listen: "0.0.0.0", machine: only6 })).toBeUndefined();
  });
});

describe("on a terminal the link is also a QR code", () => {
  const link = ["--link", "http://192.168.178.120:8080"];
  const store = ["--new", ...on("screen")];
  const shown = (columns: number, rows: number, words = link, env = {}) =>
    onScreen(site, { columns, rows, env }, ...create(...words, ...store));
  const linkIn = (lines: string[]) =>
    /https?:\/\/\S+#token=[\w.-]+/.exec(Bun.stripANSI(lines.join("\n")))?.[0];

  test("which another program reads", () => {
    const lines = shown(80, 24);
    expect(linkIn(lines)).toStartWith("http://192.168.178.120:8080/#token=");
    expect(readQr(lines)).toBe(linkIn(lines));
    // With a line for the prompt.
    expect(qrLines(lines).length).toBeLessThan(24);
  });

  test("with as much of an address as there may be", () => {
    const long = ["--link", `https://${"a".repeat(60)}.${"b".repeat(60)}.example:8090`];
    const lines = shown(120, 60, long);
    expect(readQr(lines)).toBe(linkIn(lines));
  });

  test.each([
    ["too few columns", 40, 50, link, {}],
    ["too few lines", 80, 15, link, {}],
    ["no colours, which it is drawn with", 80, 50, link, { NO_COLOR: "1" }],
    ["an address that a phone cannot reach", 80, 50, ["--link", "http://127.0.0.1:8080"], {}],
  ])("unless there are %s", (_, columns, rows, words, env) => {
    const lines = shown(columns, rows, words, env);
    expect([linkIn(lines)?.includes("#token="), qrLines(lines)]).toEqual([true, []]);
    expect(lines.join("")).not.toMatch(/[▀▄█]/);
  });
});
