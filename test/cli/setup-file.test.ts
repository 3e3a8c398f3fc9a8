import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parse } from "smol-toml";
import { drivers } from "../../drivers/index.ts";
import { adapterPorts, pluggedIn } from "../../src/cli/serial-ports.ts";
import { configurationText } from "../../src/cli/setup/configuration-text.ts";
import { readHomeFile } from "../../src/cli/setup/home-file.ts";
import { adapterRights } from "../../src/cli/setup/systemd-services.ts";
import { syncToken_ms } from "../../src/domain/token.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { lintel, Site } from "../../testbed/front-door.ts";

let site: Site;
let file: string;
let etc: string;
beforeEach(() => {
  site = new Site({ commands: lintelHere });
  file = join(site.directory, "lintel-home.toml");
  etc = join(site.directory, "etc");
});
afterEach(() => site.remove());

/** The files beside the configuration, each with its mode, its text and when it was written. */
function written(): Record<string, string> {
  if (!existsSync(etc)) return {};
  const of = (name: string) => {
    const { mtimeMs, mode } = statSync(join(etc, name));
    return `${(mode & 0o777).toString(8)} ${mtimeMs} ${readFileSync(join(etc, name), "utf8")}`;
  };
  return Object.fromEntries(readdirSync(etc).map((name) => [name, of(name)]));
}

function setup(text: string, ...words: string[]) {
  writeFileSync(file, text);
  return again(...words);
}

function again(...words: string[]) {
  return site.lintel("setup", "--file", file, "--config", join(etc, "lintel.toml"), ...words);
}

const configured = () => parse(readFileSync(join(etc, "lintel.toml"), "utf8")) as Record<string, unknown>;
const home = (id = 12) => `data = "${site.data}"\n[home]\nid = ${id}\ntimezone = "Europe/Berlin"\n`;
const local = '[api]\nlisten = "127.0.0.1:0"\n';

test("one file sets a gateway up that runs, and with it again nothing changes", async () => {
  const text = `${home()}${local}[zigbee]\nport = "tcp://127.0.0.1:1"\n`;
  expect((await setup(text)).code).toBe(0);
  expect(configured()).toEqual({
    data: site.data,
    home: { id: 12, timezone: "Europe/Berlin" },
    api: { listen: "127.0.0.1:0", tls: "self-signed" },
    zigbee: { port: "tcp://127.0.0.1:1" },
  });
  const before = written();
  const second = await setup(text, "--json");
  expect([second.code, JSON.parse(second.out)]).toEqual([0, expect.objectContaining({ changed: false })]);
  expect(written()).toEqual(before);
  const gateway = await site.serve(["run", "--config", join(etc, "lintel.toml"), "--json"]);
  expect(gateway.url).toStartWith("https://");
});

test("a stick is asked by the gateway that runs: what it found, or what is amiss with the remedy, is one line", async () => {
  const stick = await site.simulator("zigbee");
  const text = `${home()}${local}${stick.section}`;
  expect((await setup(text)).code).toBe(0);
  const gateway = await site.serve(["run", "--config", join(etc, "lintel.toml"), "--json"]);
  const { code, out } = await again();
  expect(code).toBe(0);
  expect(out).toMatch(
    /^✓ \[zigbee\] .* on \S+, channel \d+ \(.+ Wi-Fi .+; the quietest when the network was formed\), PAN 0x[0-9a-f]{4}$/m,
  );
  gateway.process.kill("SIGTERM");
  await gateway.process.exited;
  // Another host has made a network of its own on it, and the files of ours are gone.
  await stick.tell({ do: "network" });
  rmSync(join(site.data, "drivers/zigbee"), { recursive: true });
  await site.serve(["run", "--config", join(etc, "lintel.toml"), "--json"]);
  const { warnings } = JSON.parse((await again("--json")).out);
  expect(warnings).toEqual([
    expect.stringMatching(/^\[zigbee\] the Zigbee adapter \S+ holds another network/),
  ]);
});

test("every fault of the file is said at once, each on a line of its own, and nothing is written", async () => {
  const { code, said } = await setup(
    '[home]\nid = 0\ntimezon = "UTC"\n[api]\nlisten = "everywhere"\n[zigbee]\n[upload]\nurl = "central"\n[setup]\nupload_token = "two words"\nwifi = "x"\n',
  );
  const lines = said
    .trim()
    .split("\n")
    .map((line) => line.replaceAll(file, "F").replace(/\(plugged in: .*/, ""));
  expect([code, written()]).toEqual([2, {}]);
  expect(lines).toEqual([
    expect.stringContaining('F line 11: unknown key "wifi" in [setup]'),
    expect.stringContaining("F line 6: [zigbee] names no port, and nothing known for [zigbee] is plugged in"),
    expect.stringContaining("F line 2: home.id is 0"),
    expect.stringContaining('F line 3: unknown key "timezon" in [home]: did you mean "timezone"?'),
    expect.stringContaining('F line 5: api.listen is "everywhere"'),
    expect.stringContaining('F line 8: upload.url is "central"'),
    expect.stringContaining("F line 10: setup.upload_token is no token"),
  ]);
});

test("quotes of an editor for letters are named, with the line and what to write", async () => {
  const { code, said } = await setup("[home]\nid = 12\ntimezone = \u201cEurope/Berlin\u201d\n");
  expect([code, said]).toEqual([
    2,
    `lintel: ${file} line 3 has the curly quote \u201c, which an editor for letters puts in: write the straight one, ", in its place\n`,
  ]);
});

test("status before set-up says to set the box up", async () => {
  mkdirSync(etc);
  writeFileSync(join(etc, "lintel.toml"), `data = "${site.data}"\n`);
  const { code, said } = await site.lintel("status", "--config", join(etc, "lintel.toml"));
  expect([code, said]).toEqual([
    2,
    `lintel: there is no Lintel database in ${site.data}: name the data directory of a server with --data DIR; if this box is not set up yet, run sudo lintel setup\n`,
  ]);
});

test("an upload without a token is a fault", async () => {
  const { code, said } = await setup(`${home()}[upload]\nurl = "http://127.0.0.1:1"\n`);
  expect(code).toBe(2);
  expect(said).toMatch(
    /line 5: \[upload\] is given, and neither \[setup\] upload_token nor the file \S+ has a token/,
  );
});

test("what is no file, no TOML or has no home's number ends with one line and 2", async () => {
  expect((await again()).said).toContain(
    `there is no set-up file ${file}: create it or name another with --file FILE`,
  );
  expect((await setup("[home\n")).said).toContain(`${file} line 1, column 6 is not valid TOML`);
  expect((await setup("")).said).toContain(`${file} line 1: [home] has no id`);
  expect(written()).toEqual({});
});

describe("with a central", () => {
  const central = () => join(site.directory, "central");
  const token = async (of: number) =>
    (
      await site.answer(
        "token",
        "create",
        "home",
        "--scope",
        "sync",
        "--home",
        `${of}`,
        "--json",
        "--data",
        central(),
      )
    ).token;
  const upload = (url: string, text: string) =>
    `${home()}${local}[upload]\nurl = "${url}"\n[setup]\nupload_token = "${text}"\n`;

  test("the token is tried before anything is written, and kept in a file of its own", async () => {
    const { origin } = await site.central("--data", central());
    const refused = await setup(upload(origin, "nobody.knows-it"));
    expect([refused.code, written()]).toEqual([2, {}]);
    expect(refused.said).toMatch(/^lintel: central at \S+ refuses the token/);
    const other = await setup(upload(origin, await token(13)));
    expect([other.code, written()]).toEqual([2, {}]);
    expect(other.said).toContain("knows the token as another home's");
    const own = await token(12);
    expect(await setup(upload(origin, own))).toMatchObject({ code: 0, said: "" });
    expect(readFileSync(join(etc, "upload-token"), "utf8")).toBe(`${own}\n`);
    expect(readFileSync(join(etc, "lintel.toml"), "utf8")).not.toContain(own);
    const tokens = await site.answer("token", "list", "--json", "--data", central());
    for (const { created_ms, expires_ms } of tokens) expect(expires_ms - created_ms).toBe(syncToken_ms);
    const long = ["--scope", "sync", "--home", "12", "--expires", "2y", "--data", central()];
    expect(await site.lintel("token", "create", "long", ...long)).toMatchObject({
      code: 2,
      said: expect.stringContaining(
        "a sync token lasts a year, and each upload renews it: leave --expires out",
      ),
    });
    await site.token();
    expect(await site.lintel("upload", "--config", join(etc, "lintel.toml"))).toMatchObject({ code: 0 });
    const [heard, awaited] = await site.answer("fleet", "--json", "--data", central());
    const next = Bun.spawnSync(["date", `--date=@${Math.floor(heard.next_upload_ms / 1000)}`, "+%R"], {
      env: { PATH: "/usr/bin:/bin" },
    });
    expect(next.stdout.toString()).toBe("02:00\n");
    expect(awaited).toMatchObject({ homeid: 13, epoch: null, last_report_ms: null, needs: [] });
  });

  test("a central that is trusted by its certificate alone is", async () => {
    const { origin } = await site.central("--data", central(), "--tls", "self-signed");
    const text = upload(origin, await token(12));
    expect((await setup(text)).said).toContain("a certificate that no authority vouches for");
    const { certificate } = (await site.answer("status", "--json", "--data", central())).tls;
    const pem = readFileSync(certificate, "utf8");
    expect((await setup(`${text}upload_certificate = """\n${pem}"""\n`)).code).toBe(0);
    expect(readFileSync(join(etc, "central.pem"), "utf8")).toBe(pem);
    await site.token();
    cpSync(join(import.meta.dir, "../golden/api-tls/certificate.pem"), join(etc, "central.pem"));
    expect((await site.lintel("upload", "--config", join(etc, "lintel.toml"))).said).toMatch(
      /shows another certificate than the one in \[upload\] certificate = "…" \(.*\): if central was given another, ask/,
    );
  });

  test("one that cannot be reached now is said, and the gateway is set up all the same", async () => {
    const done = await setup(upload("http://127.0.0.1:1", "abc.def"));
    expect(done.code).toBe(0);
    expect(done.out).toContain("central at 127.0.0.1:1 cannot be reached");
  });
});

describe("a box that is set up", () => {
  test("is set up otherwise only where that is asked for", async () => {
    await setup(`${home()}${local}`);
    const before = written();
    const other = `${home()}[api]\nlisten = "127.0.0.1:8081"\n`;
    const refused = await setup(other);
    expect([refused.code, written()]).toEqual([2, before]);
    expect(refused.said).toContain("this box is already set up");
    expect((await setup(`${other}[setup]\nreplace = true\n`)).code).toBe(0);
    expect((await setup(`${home()}${local}`, "--replace")).code).toBe(0);
    expect(configured()["api"]).toMatchObject({ listen: "127.0.0.1:0" });
  });

  test("is not given to another home while it holds the readings of the first", async () => {
    await setup(`${home(12)}${local}`);
    await site.token();
    const refused = await setup(`${home(13)}${local}`, "--replace");
    expect(refused.code).toBe(2);
    expect(refused.said).toContain("has the readings of home 12, and this box is to be set up for home 13");
  });

  test.each(["systemd", "packaging"])(
    "is not the one whose configuration is that of %s, as it comes",
    async (of) => {
      mkdirSync(etc);
      writeFileSync(
        join(etc, "lintel.toml"),
        readFileSync(join(import.meta.dir, "../..", of, "lintel.toml")),
      );
      expect((await setup(`${home()}${local}`)).code).toBe(0);
    },
  );
});

describe("once, from a boot partition", () => {
  const token = "abcdefghijkl.the-secret-of-home-12";
  const text = () =>
    `# Home 12.\n${home()}${local}[upload]\nurl = "http://127.0.0.1:1"\n[setup]\nupload_token = "${token}"   # of central\n`;
  const done = () => join(site.directory, "lintel-home.done.toml");

  test("the token is in no file there afterwards, and the file is called done", async () => {
    expect((await setup(text(), "--once")).code).toBe(0);
    expect(existsSync(file)).toBe(false);
    expect(readFileSync(done(), "utf8")).toBe(text().replace(token, " ".repeat(token.length)));
    expect(readFileSync(join(etc, "upload-token"), "utf8").trim()).toBe(token);
  });

  test.each([
    ["only the token's file was written", () => rmSync(join(etc, "lintel.toml"))],
    ["all was written and the token not yet taken out", () => writeFileSync(file, text())],
    ["the token was taken out and the file not yet renamed", () => writeFileSync(file, readFileSync(done()))],
  ])("after a power cut when %s, it ends where it would have", async (_, cut) => {
    await setup(text(), "--once");
    const ended = configured();
    writeFileSync(file, text());
    cut();
    rmSync(done());
    expect((await again("--once")).code).toBe(0);
    expect([configured(), existsSync(file), readFileSync(done(), "utf8").includes(token)]).toEqual([
      ended,
      false,
      false,
    ]);
  });

  test("where the boot partition takes no changes, faults are said all the same", async () => {
    file = join(site.directory, "nowhere", "lintel-home.toml");
    const { code, said } = await again("--once");
    expect(code).toBe(2);
    expect(said).toMatch(/there is no set-up file .*\nthis could not be written to .*faults\.txt \(ENOENT/);
  });

  test("faults go into a file beside it, without the token, which goes with the faults", async () => {
    const faults = join(site.directory, "lintel-home.faults.txt");
    expect((await setup(text().replace("id = 12", "id = -1"), "--once")).code).toBe(2);
    expect(readFileSync(faults, "utf8")).toMatch(/^\S+ line 4: home\.id is -1: it must be .*\r\n$/);
    expect([existsSync(file), written()]).toEqual([true, {}]);
    expect((await setup(text(), "--once")).code).toBe(0);
    expect(existsSync(faults)).toBe(false);
  });
});

test("a section without a port gets the stick of its kind; what could be either is said", () => {
  const directory = mkdtempSync(join(tmpdir(), "lintel-sticks-"));
  const adapters = [{ name: "hci0", title: "Bluetooth adapter built in", connections: 0 }];
  const plug = (name: string) => symlinkSync("/dev/null", join(directory, name));
  const read = (text: string) => {
    writeFileSync(file, `[home]\nid = 1\n${text}`);
    const sections = new Map(drivers.map(({ name, section }) => [name, section]));
    const read = readHomeFile(file, {
      configuration: join(etc, "lintel.toml"),
      sections,
      ports: [...pluggedIn(directory), ...adapterPorts(adapters)],
    });
    return "faults" in read
      ? read.faults.map(({ what }) => what.replace(`${file} `, ""))
      : read.wanted.values;
  };
  expect(read("[ble]\n")).toMatchObject({ ble: { port: "hci0" } });
  plug("usb-ITead_Sonoff_Zigbee_3.0_USB_Dongle_Plus_V2_a6ee89-if00-port0");
  plug("usb-1a86_USB_Serial-if00-port0");
  plug("usb-ZEPHYR_Zephyr_HCI_UART_sample_C9E1-if00");
  const at = (name: string) => join(directory, name);
  expect(read("[zigbee]\n[ble]\n[pillbox]\nport = '*1a86*'\n")).toMatchObject({
    zigbee: {
      port: at("usb-ITead_Sonoff_Zigbee_3.0_USB_Dongle_Plus_V2_a6ee89-if00-port0"),
      adapter: "ember",
    },
    // A controller that somebody plugged in, before what the machine has anyway.
    ble: { port: at("usb-ZEPHYR_Zephyr_HCI_UART_sample_C9E1-if00") },
    pillbox: { port: at("usb-1a86_USB_Serial-if00-port0") },
  });
  expect(read("[pillbox]\n")).toEqual([
    "line 3: [pillbox] names no port, and nothing known for [pillbox] is plugged in",
  ]);
  adapters.push({ name: "hci1", title: "Bluetooth adapter on USB (UB500)", connections: 0 });
  rmSync(at("usb-ZEPHYR_Zephyr_HCI_UART_sample_C9E1-if00"));
  expect(read("[ble]\n")).toEqual([
    "line 3: [ble] names no port, and several known for [ble] are plugged in",
  ]);
  plug("usb-dresden_elektronik_ingenieurtechnik_GmbH_ConBee_II_DE21-if00");
  expect(read("[zigbee]\n")).toEqual([
    "line 3: [zigbee] names no port, and several known for [zigbee] are plugged in",
  ]);
  expect(read("[zigbee]\nport = '*ConBee*'\n")).toMatchObject({ zigbee: { adapter: "deconz" } });
  rmSync(directory, { recursive: true });
});

test("the configuration that is written keeps what explains it, and every value as it was given", () => {
  const template = readFileSync(join(import.meta.dir, "../../systemd/lintel.toml"), "utf8");
  const values = {
    data: '/srv/"lintel"\u007f',
    home: { id: 3, timezone: "UTC" },
    api: { listen: "[::]:8080", realm: "ward 3", metrics: true, tls: "self-signed", tls_names: ["a", "b"] },
    ble: { port: "/dev/a", ignore: ["54:48:e6:8f:80:a5"], keys: { "54:48:e6:8f:80:a6": "00" } },
    walking: {
      hall: [
        { item: "a", metres: 0 },
        { item: "b", metres: 0.75 },
      ],
      "long hall": [],
    },
    mqtt: { url: "mqtt://localhost", topics: { zigbee2mqtt: "z" } },
    watch: { port: "/dev/w" },
  };
  const text = configurationText(template, values);
  expect(parse(text)).toEqual(values);
  const comments = (of: string) => new Set(of.match(/# [a-zA-Z][^#\n]{12,}$/gm));
  const lost = comments(template).difference(comments(text));
  expect([...lost]).toEqual([]);
  expect(configurationText(template, parse(template))).toBe(template);
});

test("docs/bluetooth.md has the rights of a gateway at an adapter of the kernel as setup writes them", () => {
  expect(readFileSync(join(import.meta.dir, "../../docs/bluetooth.md"), "utf8")).toContain(adapterRights);
});

test("the lines of docs/first-boot.md make a file for each home, which sets it up", async () => {
  const document = readFileSync(join(import.meta.dir, "../../docs/first-boot.md"), "utf8");
  const [, lines = ""] = /```sh\n(for home .*?)```/s.exec(document) ?? [];
  const central = join(site.directory, "central");
  const { origin } = await site.central("--data", central);
  const bin = join(site.directory, "bin");
  mkdirSync(bin);
  symlinkSync(lintel, join(bin, "lintel"));
  const text = `${home().replace("12", "HOME")}${local}[upload]\nurl = "${origin}"\n[setup]\nupload_token = "TOKEN"\n`;
  writeFileSync(file, text);
  const loop = lines.replace("seq 1 50", "seq 12 13").replace("/var/lib/lintel-central", central);
  const ran = Bun.spawnSync(["sh", "-ec", loop], {
    cwd: site.directory,
    env: { PATH: `${bin}:/usr/bin:/bin`, HOME: site.home },
  });
  expect(ran.exitCode).toBe(0);
  const made = readFileSync(join(site.directory, "home-13.toml"), "utf8");
  expect(await setup(made)).toMatchObject({ code: 0, said: "" });
  expect(configured()["home"]).toMatchObject({ id: 13 });
});
