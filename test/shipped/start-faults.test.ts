import { Database } from "bun:sqlite";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type RunningServer, Site } from "../../testbed/front-door.ts";

// One gateway runs all the while: it holds a data directory and a port that the others want.
const running = new Site();
let gateway: RunningServer;

beforeAll(async () => {
  running.configure();
  gateway = await running.run();
});
afterAll(() => running.remove());

interface Fault {
  readonly named: string;
  /** Makes the site faulty. */
  arrange(site: Site): void | Promise<void>;
  /** The expected line, with the site's directory as `<site>`. */
  readonly said: RegExp;
}

const faults: readonly Fault[] = [
  {
    named: "an unknown key",
    arrange: (site) => site.configure({ sections: '[zigbee]\nprot = "/dev/ttyACM0"' }),
    said: /^lintel: <site>\/lintel\.toml line \d: unknown key "prot" in \[zigbee\]: did you mean "port"\?\n$/,
  },
  {
    named: "no configuration",
    arrange: () => {},
    said: /^lintel: there is no configuration file <site>\/lintel\.toml: create it or name another with --config FILE\n$/,
  },
  {
    named: "a data directory inside a file",
    arrange: (site) => {
      writeFileSync(site.data, "");
      site.configure({ data: join(site.data, "inside") });
    },
    said: /^lintel: <site>\/data\/inside is not a directory: set `data` to a directory\n$/,
  },
  {
    named: "a data directory that cannot be written",
    // Not even by root, as which tests often run.
    arrange: (site) => site.configure({ data: "/sys/kernel" }),
    said: /^lintel: \/sys\/kernel\S* cannot be opened: give this user write access to it, or set another `data` directory; where it has that, the disk is full or fails .*\n$/,
  },
  {
    named: "a database of a newer version",
    arrange: async (site) => {
      site.configure();
      await site.token();
      const database = new Database(join(site.data, "lintel.db"));
      database.run("PRAGMA user_version = 999");
      database.close();
    },
    said: /^lintel: <site>\/data\/lintel\.db was written by a newer Lintel \(schema 999; .*\): install that version again, .*\n$/,
  },
  {
    named: "a second gateway on the same data",
    arrange: (site) => site.configure({ data: running.data }),
    said: /^lintel: another Lintel \(process \d+\) is already running on \S+: stop that one, .*\n$/,
  },
  {
    named: "a port that is taken",
    arrange: (site) => site.configure({ listen: new URL(gateway.url).host }),
    said: /^lintel: cannot listen on 127\.0\.0\.1:\d+: another program has the port: stop that program, .*\n$/,
  },
  {
    named: "a TLS key that cannot be read",
    arrange: (site) => {
      mkdirSync(join(site.directory, "tls.key"));
      writeFileSync(join(site.directory, "tls.crt"), "");
      site.configure({ api: 'tls_certificate = "tls.crt"\ntls_key = "tls.key"' });
    },
    said: /^lintel: TLS key <site>\/tls\.key cannot be read \(.*\): let tls_key in \[api\] name a PEM file .*\n$/,
  },
  {
    named: "an address that no broker can have",
    arrange: (site) => site.configure({ sections: '[mqtt]\nurl = "mqtt://localhost:99999"' }),
    said: /^lintel: \[mqtt\] url is no address of a broker: write it as "mqtt:\/\/localhost:1883", .*\n$/,
  },
  {
    named: "topics of a hub that nobody knows",
    arrange: (site) =>
      site.configure({ sections: '[mqtt]\nurl = "mqtt://localhost"\n[mqtt.topics]\nzigbee3mqtt = "z"' }),
    said: /^lintel: <site>\/lintel\.toml line \d: mqtt\.topics is .*zigbee3mqtt.*: it must be a table of zigbee2mqtt, .*\n$/,
  },
  {
    named: "a broker's password in a file that is not there",
    arrange: (site) =>
      site.configure({ sections: '[mqtt]\nurl = "mqtt://localhost"\npassword_file = "/nowhere"' }),
    said: /^lintel: the password for the MQTT broker cannot be read from \/nowhere \(.*\): make it a file .*\n$/,
  },
  {
    named: "a broker's authority in a file that holds no certificate",
    arrange: (site) => {
      const file = join(site.directory, "ca.pem");
      writeFileSync(file, "none");
      site.configure({ sections: `[mqtt]\nurl = "mqtts://localhost"\nca = "${file}"` });
    },
    said: /^lintel: \[mqtt\] ca <site>\/ca\.pem holds no certificate: name a file in PEM, .*\n$/,
  },
];

for (const { named, arrange, said } of faults) {
  test(`${named} ends the start with one line, a remedy and exit 2`, async () => {
    const site = new Site();
    try {
      await arrange(site);
      const end = await site.lintel("run", "--config", site.config, "--json");
      // The log says first that a database was made; what went wrong is the last line.
      const lines = end.said.replaceAll(site.directory, "<site>").trimEnd().split("\n");
      expect(`${lines.at(-1)}\n`).toMatch(said);
      expect(lines.slice(0, -1).filter((line) => !/ info /.test(line))).toEqual([]);
      expect({ code: end.code, out: end.out }).toEqual({ code: 2, out: "" });
      if (existsSync(site.data) && !named.includes("inside a file")) {
        expect(readdirSync(site.data).filter((name) => /sock|pid/.test(name))).toEqual([]);
      }
    } finally {
      await site.remove();
    }
  });
}

test("the gateway that others wanted to replace was not disturbed", async () => {
  const { out } = await running.lintel("status", "--json", "--data", running.data);
  expect(JSON.parse(out)).toMatchObject({ running: true, url: gateway.url, drivers: [] });
});

test("it stops on SIGINT with exit 0, takes its socket along, and says which signal", async () => {
  const site = new Site();
  site.configure();
  const started = await site.run();
  expect(await started.stop("SIGINT")).toBe(0);
  expect(await started.process.said()).toContain("stopping on SIGINT");
  expect(existsSync(join(site.data, "control.sock"))).toBe(false);
  await site.remove();
});
