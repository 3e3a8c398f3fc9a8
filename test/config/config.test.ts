import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TSchema, Type } from "@sinclair/typebox";
import { OperatorError } from "../../src/base/errors.ts";
import { machineTimezone } from "../../src/base/timezone.ts";
import { loadConfig, loadParts, uploadSection } from "../../src/config/gateway-config.ts";

const radio = Type.Object({
  port: Type.String({ description: "a device path or tcp://host:port" }),
  adapter: Type.Optional(Type.Union([Type.Literal("zstack"), Type.Literal("ember")])),
  channel: Type.Optional(Type.Integer({ minimum: 11, maximum: 26 })),
});
const sections = new Map<string, TSchema>([["zigbee", radio]]);

let directory = "";
let file = "";
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-config-"));
  file = join(directory, "lintel.toml");
});
afterAll(() => rmSync(directory, { recursive: true }));

function load(toml: string) {
  writeFileSync(file, toml);
  return loadConfig(file, sections);
}

/** The fault that loading ends in, without the directory in which the file happens to be. */
function faultOf(toml: string): { what: string; remedy: string } {
  try {
    load(toml);
  } catch (error) {
    if (error instanceof OperatorError) {
      return { what: error.what.replace(`${directory}/`, ""), remedy: error.remedy };
    }
    throw error;
  }
  throw new Error("it loaded");
}

test("an empty file gives every default", () => {
  expect(load("")).toEqual({
    file,
    data: "/var/lib/lintel",
    home: { timezone: machineTimezone() },
    api: { hostname: "0.0.0.0", port: 8080, realm: "lintel" },
    drivers: new Map(),
    walking: [],
    warnings: [
      `${file}: [api] serves plain HTTP on 0.0.0.0:8080, where tokens and people's data travel in the open: set tls = "self-signed" in [api], or listen = "127.0.0.1:8080" behind a proxy`,
    ],
  });
});

test.each([
  ['tls = "self-signed"', 0],
  ['tls_certificate = "c"\ntls_key = "k"', 0],
  ['listen = "127.0.0.1:8080"', 0],
  ['listen = "[::1]:8080"', 0],
  ['listen = "localhost:8080"', 0],
  ['listen = "[::]:8080"', 1],
  ['listen = "192.168.1.7:8080"', 1],
  ['listen = "gateway.local:8080"', 1],
])("plain HTTP that others reach is warned of: %s", (api, warnings) => {
  expect(load(`[api]\n${api}\n`).warnings).toHaveLength(warnings);
});

test.each([
  ["https://central.example", 0],
  ["http://127.0.0.1:8090", 0],
  ["http://localhost:8090", 0],
  ["http://[::1]:8090", 0],
  ["http://central.example", 1],
])("so is an upload by plain HTTP: to %s", (url, warnings) => {
  const text = `[api]\ntls = "self-signed"\n[upload]\nurl = "${url}"\ntoken_file = "/t"\n`;
  expect(load(text).warnings).toHaveLength(warnings);
});

test("every key arrives where it belongs, and relative paths are meant from the file", () => {
  const config = load(`
    data = "data"
    [home]
    id = 12
    timezone = "America/Los_Angeles"
    [api]
    listen = "[::1]:0"
    realm = "programme"
    tls_certificate = "tls.crt"
    tls_key = "/etc/tls.key"
    [zigbee]
    port = "tcp://bridge.local:20108"
    adapter = "ember"
  `);
  expect(config.data).toBe(join(directory, "data"));
  expect(config.home).toEqual({ id: 12, timezone: "America/Los_Angeles" });
  expect(config.api).toEqual({
    hostname: "::1",
    port: 0,
    realm: "programme",
    tls: { certificate: join(directory, "tls.crt"), key: "/etc/tls.key" },
  });
  expect(config.drivers).toEqual(
    new Map([["zigbee", { port: "tcp://bridge.local:20108", adapter: "ember" }]]),
  );
});

test("a certificate is made for the names that are given, where that is asked for", () => {
  expect(load('[api]\ntls = "self-signed"').api.tls).toEqual({ names: [] });
  const names = ["gateway.example", "pi", "10.8.0.12", "fd00::7"];
  const { tls } = load(`[api]\ntls = "self-signed"\ntls_names = ${JSON.stringify(names)}`).api;
  expect(tls).toEqual({ names });
});

test("a line of curtain sensors is any name with sensors in it, put in the order in which they hang", () => {
  const sensors = (places: readonly number[]) =>
    places.map((metres) => `{ item = "curtain-${metres}", metres = ${metres} }`).join(", ");
  expect(load(`[walking]\nhall = [${sensors([1.5, 0, -0.5])}]`).walking).toEqual([
    {
      name: "hall",
      sensors: [
        { item: "curtain--0.5", metres: -0.5 },
        { item: "curtain-0", metres: 0 },
        { item: "curtain-1.5", metres: 1.5 },
      ],
    },
  ]);
  expect(faultOf(`[walking]\nhall = [${sensors([0, 1])}]`)).toEqual({
    what: "lintel.toml line 2: walking.hall has 2 sensors",
    remedy: "name at least 3: with fewer, speeds cannot be told from errors",
  });
  expect(faultOf("[walking]\nhall = 3")).toEqual({
    what: "lintel.toml line 2: walking.hall is 3",
    remedy: 'it must be a list of sensors such as { item = "hall-curtain-1", metres = 0.75 }',
  });
});

test("an upload needs an address and a token file, and has its defaults", () => {
  const config = load(
    '[api]\ntls = "self-signed"\n[upload]\nurl = "https://central.example"\ntoken_file = "token"\n',
  );
  expect(config.upload).toEqual({
    url: "https://central.example",
    token_file: join(directory, "token"),
    at: "02:00",
    bytes_per_s: 262_144,
  });
  expect(config.warnings).toEqual([]);
  const { upload } = load(
    '[upload]\nurl = "http://c:8090"\ntoken_file = "/t"\nat = "03:30"\nbytes_per_second = 50_000\nkeep_days = 400\ncertificate = "c.pem"\n',
  );
  expect(upload).toEqual({
    url: "http://c:8090",
    token_file: "/t",
    certificate: join(directory, "c.pem"),
    at: "03:30",
    bytes_per_s: 50_000,
    keep_days: 400,
  });
});

test("a token that everybody on the machine can read is warned of", () => {
  const token = join(directory, "token");
  writeFileSync(token, "secret", { mode: 0o644 });
  const upload =
    '\napi.tls = "self-signed"\n[upload]\nurl = "https://central.example"\ntoken_file = "token"\n';
  expect(load(upload).warnings.map((line) => line.replaceAll(`${directory}/`, ""))).toEqual([
    "lintel.toml line 5: token can be read by every user of this machine, and holds a secret: chmod 640 token",
  ]);
  chmodSync(token, 0o640);
  expect(load(upload).warnings).toEqual([]);
});

test("what an upload needs is read without knowing the sections of drivers", () => {
  writeFileSync(
    file,
    'data = "d"\n[home]\ntimezone = "Europe/Paris"\n[unheard]\nof = 1\n[upload]\nurl = "https://c"\ntoken_file = "/t"\n',
  );
  expect(loadParts(file, "data", "home", "upload")).toEqual({
    data: join(directory, "d"),
    home: { timezone: "Europe/Paris" },
    upload: { url: "https://c", token_file: "/t", at: "02:00", bytes_per_s: 262_144 },
    warnings: [],
  });
});

test("every setting of an upload stands in systemd/lintel.toml and in docs/upload.md", async () => {
  const sample = await Bun.file(join(import.meta.dir, "../../systemd/lintel.toml")).text();
  const page = await Bun.file(join(import.meta.dir, "../../docs/upload.md")).text();
  for (const key of Object.keys(uploadSection.properties)) {
    expect(sample).toMatch(new RegExp(`^# ${key} = `, "m"));
    expect(page).toContain(`| \`${key}\` |`);
  }
  const commented = sample.slice(sample.indexOf("# [upload]")).replaceAll(/^# /gm, "");
  expect(load(commented).upload?.keep_days).toBe(400);
});

const faults: readonly [toml: string, what: string, remedy: string][] = [
  ['dta = "/x"', 'lintel.toml line 1: unknown key "dta"', 'did you mean "data"?'],
  ["[zigbe]\n", 'lintel.toml line 1: unknown key "zigbe"', 'did you mean "zigbee"?'],
  [
    '\n[zigbee]\nprot = "/dev/x"',
    'lintel.toml line 3: unknown key "prot" in [zigbee]',
    'did you mean "port"?',
  ],
  [
    "[home]\nelephants = 1",
    'lintel.toml line 2: unknown key "elephants" in [home]',
    "known here: id, timezone, may_pause, may_note",
  ],
  [
    'home.id = "one"',
    'lintel.toml line 1: home.id is "one"',
    "it must be an integer from 1 (the number of the home, 1 or above)",
  ],
  [
    '[home]\ntimezone = "Mars/Olympus"',
    'lintel.toml line 2: home.timezone is "Mars/Olympus"',
    'it must be a time zone name such as "Europe/Berlin"',
  ],
  [
    '[api]\r\n# where\r\nlisten = "8080"\r\n',
    'lintel.toml line 3: api.listen is "8080"',
    'it must be an address and a port such as "0.0.0.0:8080" or "[::]:8080"',
  ],
  [
    '[api]\nlisten = "0.0.0.0:65536"',
    'lintel.toml line 2: api.listen is "0.0.0.0:65536"',
    'it must be an address and a port such as "0.0.0.0:8080" or "[::]:8080"',
  ],
  [
    '[upload]\nurl = "https://central.example"',
    "lintel.toml line 1: [upload] has no token_file",
    "add token_file = … (the path of a file)",
  ],
  [
    '[upload]\nurl = "ftp://central.example"\ntoken_file = "/t"',
    'lintel.toml line 2: upload.url is "ftp://central.example"',
    'it must be an address such as "https://central.example"',
  ],
  [
    '[upload]\nurl = "http://c"\ntoken_file = "/t"\nkeep_days = 0',
    "lintel.toml line 4: upload.keep_days is 0",
    "it must be an integer from 7 to 36500",
  ],
  [
    '[zigbee]\nport = "tcp://bridge"',
    'lintel.toml line 2: zigbee.port is "tcp://bridge"',
    "it must be a device path or tcp://host:port",
  ],
  [
    '[zigbee]\nport = "/dev/x"\nchannel = 27',
    "lintel.toml line 3: zigbee.channel is 27",
    "it must be an integer from 11 to 26",
  ],
  [
    '[zigbee]\nport = "/dev/x"\nadapter = "zzz"',
    'lintel.toml line 3: zigbee.adapter is "zzz"',
    'it must be "zstack" or "ember"',
  ],
  [
    '[zigbee]\nadapter = "zstack"',
    "lintel.toml line 1: [zigbee] has no port",
    "add port = … (a device path or tcp://host:port)",
  ],
  [
    '[api]\ntls_key = "/k"',
    "lintel.toml line 2: TLS needs a certificate and a key, and there is api.tls_key alone",
    "give both api.tls_certificate and api.tls_key, or neither to serve without TLS",
  ],
  ['[api]\ntls = "yes"', 'lintel.toml line 2: api.tls is "yes"', 'it must be "self-signed"'],
  [
    '[api]\ntls = "self-signed"\ntls_certificate = "/c"\ntls_key = "/k"',
    "lintel.toml line 3: api.tls and api.tls_certificate both say what TLS is served with",
    "leave one of them out: a certificate is made, or files are given",
  ],
  [
    '[api]\ntls = "self-signed"\ntls_names = ["pi", "https://pi"]',
    'lintel.toml line 3: api.tls_names has "https://pi"',
    "it must be a host name or an IP address, without scheme, port or brackets",
  ],
  [
    '[api]\ntls_names = ["pi"]',
    "lintel.toml line 2: api.tls_names is for a certificate that the server makes",
    'give api.tls "self-signed" too, or leave it out',
  ],
  [
    '[api]\ntls = "self-signed"\ntls_names = "pi"',
    'lintel.toml line 3: api.tls_names is "pi"',
    'it must be a list of host names and IP addresses, such as ["gateway.example", "10.8.0.12"]',
  ],
  [
    "zigbee = 1",
    "lintel.toml line 1: zigbee must be a section",
    "write [zigbee] on a line of its own and its keys below",
  ],
];

for (const [toml, what, remedy] of faults) {
  test(`a fault names file, line and key, and says what to do: ${JSON.stringify(toml)}`, () => {
    expect(faultOf(toml)).toEqual({ what, remedy });
  });
}

test("what is no TOML is said with line and column", () => {
  const { what, remedy } = faultOf('data = "/x"\n[api\n');
  expect(what).toMatch(/^lintel\.toml line 2, column \d+ is not valid TOML \(.+\)$/);
  expect(remedy).toBe("correct that line");
});

test("text inside a multi-line value is not taken for a key", () => {
  const { what } = faultOf('data = """\nchannel = 1\n[zigbee]\n"""\n[zigbee]\nport = "/x"\nchannel = 1\n');
  expect(what).toBe("lintel.toml line 7: zigbee.channel is 1");
});

test("a file that is not there is said with a remedy", () => {
  expect(() => loadConfig(join(directory, "none.toml"), sections)).toThrow(
    `there is no configuration file ${join(directory, "none.toml")}: create it or name another with --config FILE`,
  );
});

test("a command on the store needs only the data directory, whatever the sections of drivers hold", () => {
  writeFileSync(file, 'data = "/srv/lintel"\n[zigbee]\nnonsense = true\n');
  expect(loadParts(file, "data").data).toBe("/srv/lintel");
});
