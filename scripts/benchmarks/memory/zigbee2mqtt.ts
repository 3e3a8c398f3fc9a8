import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../../../test/shipped/front-door.ts";
import { Samples } from "./samples.ts";
import { type HomeName, Sensors } from "./sensors.ts";

const install_ms_max = 600_000;
const start_tries_max = 2_400;
const arrival_tries_max = 4_800;

/**
 * The same month before Zigbee2MQTT on Node, with the same sensors around the same coordinator and a broker in
 * this process. Installs it and the broker once, beside other temporary files; undefined where that fails.
 */
export async function zigbee2mqttMonth(options: {
  days: number;
  rate: number;
  home: HomeName;
}): Promise<Samples | undefined> {
  const directory = join(tmpdir(), "lintel-bench-zigbee2mqtt");
  if (!install(directory)) return undefined;
  const version = JSON.parse(
    readFileSync(join(directory, "node_modules/zigbee2mqtt/package.json"), "utf8"),
  ).version;
  const node = Bun.spawnSync(["node", "--version"]).stdout.toString().trim();
  const samples = new Samples(`Zigbee2MQTT ${version} on Node ${node}`);
  const data = mkdtempSync(join(tmpdir(), "lintel-bench-z2m-"));
  const sensors = await Sensors.listen(data, options.home);
  const broker = await Broker.listen(directory);
  writeFileSync(join(data, "configuration.yaml"), configuration(sensors.path, broker.port));
  const child = Bun.spawn(["node", join(directory, "node_modules/zigbee2mqtt/index.js")], {
    cwd: data,
    env: { ...process.env, ZIGBEE2MQTT_DATA: data, Z2M_ONBOARD_NO_SERVER: "1" },
    stdin: "ignore",
    stdout: Bun.file(join(data, "stdout")),
    stderr: Bun.file(join(data, "stderr")),
  });
  try {
    const started = { tries_max: start_tries_max };
    await eventually(
      () => (broker.online && child.exitCode === null ? true : undefined),
      "Zigbee2MQTT starts",
      started,
    );
    // It says that it is online before it takes requests.
    const asking = { tries_max: 60, pause_ms: 500 };
    await eventually(
      () => {
        if (!broker.permitted) broker.publish("zigbee2mqtt/bridge/request/permit_join", '{"time":254}');
        return broker.permitted || undefined;
      },
      "Zigbee2MQTT lets sensors in",
      asking,
    );
    for (const [index, device] of sensors.devices.entries()) {
      device.join();
      await eventually(
        () => (broker.interviewed > index ? true : undefined),
        `${device.ieee} is interviewed`,
      );
    }
    samples.take(child.pid);
    for (let day = 0; day < options.days; day++) {
      const before = broker.states;
      const sent = sensors.sent;
      await sensors.day(options.rate);
      const due = before + sensors.sent - sent;
      await eventually(() => (broker.states >= due ? true : undefined), `day ${day} is published`, {
        tries_max: arrival_tries_max,
      });
      samples.take(child.pid);
    }
  } catch (error) {
    console.log(readFileSync(join(data, "stdout"), "utf8").slice(-2_000));
    throw error;
  } finally {
    child.kill("SIGKILL");
    await child.exited;
    await sensors.close();
    broker.close();
    rmSync(data, { recursive: true, force: true });
  }
  return samples;
}

/** Whether both packages are there, after trying to fetch them. */
function install(directory: string): boolean {
  if (Bun.which("node") === null || Bun.which("npm") === null) return false;
  mkdirSync(directory, { recursive: true });
  const there = () =>
    Bun.spawnSync(["node", "-e", 'require.resolve("zigbee2mqtt/package.json"); require("aedes")'], {
      cwd: directory,
      stdout: "ignore",
      stderr: "ignore",
    }).success;
  if (there()) return true;
  writeFileSync(join(directory, "package.json"), '{ "private": true }\n');
  console.log(`installing Zigbee2MQTT and a broker for it in ${directory}, once`);
  Bun.spawnSync(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "zigbee2mqtt", "aedes"], {
    cwd: directory,
    stdout: "ignore",
    stderr: "inherit",
    timeout: install_ms_max,
  });
  return there();
}

/** Its defaults, without the web page and without a log file: the least it can be. */
function configuration(port: string, broker: number): string {
  return `version: 5
homeassistant: { enabled: false }
frontend: { enabled: false }
mqtt: { base_topic: zigbee2mqtt, server: "mqtt://127.0.0.1:${broker}" }
serial: { port: "${port}", adapter: zstack }
advanced: { log_level: warning, log_output: [console], network_key: GENERATE, pan_id: GENERATE }
`;
}

interface Packet {
  readonly topic: string;
  readonly payload: { toString(): string };
}

interface Aedes {
  readonly handle: (socket: unknown) => void;
  on(event: "publish", listener: (packet: Packet) => void): void;
  publish(packet: object, done: () => void): void;
  close(): void;
}

/** A minimal MQTT broker that counts what Zigbee2MQTT publishes. */
class Broker {
  online = false;
  permitted = false;
  interviewed = 0;
  /** Published states of sensors. */
  states = 0;
  readonly #aedes: Aedes;
  readonly #server = createServer();

  private constructor(aedes: Aedes) {
    this.#aedes = aedes;
    this.#server.on("connection", aedes.handle);
    aedes.on("publish", ({ topic, payload }) => this.#count(topic, payload.toString()));
  }

  static async listen(directory: string): Promise<Broker> {
    const { Aedes } = await import(Bun.resolveSync("aedes", directory));
    const broker = new Broker(await Aedes.createBroker());
    await new Promise<void>((resolve) => broker.#server.listen(0, "127.0.0.1", resolve));
    return broker;
  }

  get port(): number {
    const address = this.#server.address();
    return typeof address === "object" && address !== null ? address.port : 0;
  }

  publish(topic: string, payload: string): void {
    this.#aedes.publish(
      { cmd: "publish", topic, payload: Buffer.from(payload), qos: 0, retain: false },
      () => {},
    );
  }

  close(): void {
    this.#server.close();
    this.#aedes.close();
  }

  #count(topic: string, payload: string): void {
    if (topic === "zigbee2mqtt/bridge/state") this.online = payload.includes("online");
    else if (topic === "zigbee2mqtt/bridge/response/permit_join") this.permitted = payload.includes('"ok"');
    else if (topic === "zigbee2mqtt/bridge/event") {
      if (payload.includes("device_interview") && payload.includes("successful")) this.interviewed += 1;
    } else if (/^zigbee2mqtt\/0x[0-9a-f]{16}$/.test(topic)) this.states += 1;
  }
}
