import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { connect, type MqttClient } from "mqtt";
import type { SimulatedDevice } from "../../../drivers/zigbee/simulator/device.ts";
import { startBroker, type TestBroker } from "../../../testbed/broker.ts";
import { eventually } from "../../../testbed/front-door.ts";

const install_ms_max = 600_000;
/** A start takes five seconds where nothing else runs. */
const start_ms_max = 60_000;
const starts_max = 5;

/**
 * Zigbee2MQTT on Node with its defaults, but without the web page and a log file, and what is subscribed to it: a broker, which is mosquitto
 * where that is installed, and a client in this process.
 */
export class Zigbee2Mqtt {
  readonly name: string;
  /** States of sensors that the client has been given. */
  states = 0;
  /** Called with the address of a sensor at each of them. */
  onState: (ieee: string) => void = () => {};
  #process: Subprocess | undefined;
  #online = false;
  #permitted = false;
  #interviewed = 0;

  private constructor(
    readonly directory: string,
    private readonly data: string,
    private readonly broker: TestBroker,
    private readonly client: MqttClient,
  ) {
    const { version } = JSON.parse(readFileSync(join(directory, "package.json"), "utf8"));
    const node = /\d+/.exec(Bun.spawnSync(["node", "--version"]).stdout.toString());
    this.name = `Zigbee2MQTT ${version}, Node ${node}`;
    client.on("message", (topic, payload) => this.#take(topic, payload.toString()));
  }

  /** Starts it at a stick; undefined where it is not here and can't be installed. */
  static async start(port: string): Promise<Zigbee2Mqtt | undefined> {
    const directory = installed();
    if (directory === undefined) return undefined;
    const data = mkdtempSync(join(tmpdir(), "lintel-bench-z2m-"));
    const broker = await startBroker();
    const client = connect(broker.url);
    const it = new Zigbee2Mqtt(directory, data, broker, client);
    await client.subscribeAsync("zigbee2mqtt/#");
    writeFileSync(join(data, "configuration.yaml"), configuration(port, broker.url));
    await it.again();
    return it;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Starts the process until it listens: how many starts came to nothing before, because it ended or did not say in a minute that it listens. */
  async again(): Promise<number> {
    for (let failed = 0; failed < starts_max; failed += 1) {
      if (failed > 0) await this.kill();
      this.spawn();
      if (await this.#listens()) return failed;
    }
    throw new Error(`Zigbee2MQTT was started ${starts_max} times and never listened`);
  }

  async #listens(): Promise<boolean> {
    const began_ms = performance.now();
    while (!this.#online && this.#process?.exitCode === null && performance.now() - began_ms < start_ms_max)
      await Bun.sleep(10);
    return this.#online && this.#process?.exitCode === null;
  }

  /** Starts the process, and waits for nothing. */
  spawn(): void {
    this.#online = false;
    this.#process = Bun.spawn(["node", join(this.directory, "index.js")], {
      cwd: this.data,
      env: { ...process.env, ZIGBEE2MQTT_DATA: this.data, Z2M_ONBOARD_NO_SERVER: "1" },
      stdin: "ignore",
      stdout: Bun.file(join(this.data, "stdout")),
      stderr: Bun.file(join(this.data, "stderr")),
    });
  }

  /** Ends the process as a power cut does. */
  async kill(): Promise<void> {
    this.#process?.kill("SIGKILL");
    await this.#process?.exited;
  }

  /** Lets sensors in, one after the other. */
  async letIn(sensors: readonly SimulatedDevice[]): Promise<void> {
    // It says that it is online before it takes requests.
    await eventually(
      () => {
        if (!this.#permitted) this.client.publish("zigbee2mqtt/bridge/request/permit_join", '{"time":254}');
        return this.#permitted || undefined;
      },
      "Zigbee2MQTT lets sensors in",
      { tries_max: 60, pause_ms: 500 },
    );
    for (const [index, sensor] of sensors.entries()) {
      sensor.join();
      await eventually(() => (this.#interviewed > index ? true : undefined), `${sensor.ieee} is interviewed`);
    }
  }

  async close(): Promise<void> {
    await this.kill();
    await this.client.endAsync(true);
    await this.broker.remove();
    rmSync(this.data, { recursive: true, force: true });
  }

  #take(topic: string, payload: string): void {
    const [, address] = /^zigbee2mqtt\/0x([0-9a-f]{16})$/.exec(topic) ?? [];
    if (address !== undefined) {
      this.states += 1;
      this.onState(address.replaceAll(/(..)(?=.)/g, "$1:"));
    } else if (topic === "zigbee2mqtt/bridge/state") this.#online = payload.includes("online");
    else if (topic === "zigbee2mqtt/bridge/response/permit_join") this.#permitted = payload.includes('"ok"');
    else if (topic === "zigbee2mqtt/bridge/event") {
      if (payload.includes("device_interview") && payload.includes("successful")) this.#interviewed += 1;
    }
  }
}

/** Where the package is, after trying to fetch it once into a place beside other temporary files; undefined where that fails. */
function installed(): string | undefined {
  if (Bun.which("node") === null || Bun.which("npm") === null) return undefined;
  const directory = join(tmpdir(), "lintel-bench-zigbee2mqtt");
  mkdirSync(directory, { recursive: true });
  const there = () =>
    Bun.spawnSync(["node", "-e", 'require.resolve("zigbee2mqtt/package.json")'], {
      cwd: directory,
      stdout: "ignore",
      stderr: "ignore",
    }).success;
  if (!there()) {
    writeFileSync(join(directory, "package.json"), '{ "private": true }\n');
    console.log(`installing Zigbee2MQTT in ${directory}, once`);
    Bun.spawnSync(["npm", "install", "--no-audit", "--no-fund", "--loglevel=error", "zigbee2mqtt"], {
      cwd: directory,
      stdout: "ignore",
      stderr: "inherit",
      timeout: install_ms_max,
    });
  }
  return there() ? join(directory, "node_modules/zigbee2mqtt") : undefined;
}

/** No state is published at a start but by a sensor that said something. */
function configuration(port: string, broker: string): string {
  return `version: 5
homeassistant: { enabled: false }
frontend: { enabled: false }
mqtt: { base_topic: zigbee2mqtt, server: "${broker}" }
serial: { port: "${port}", adapter: zstack }
advanced: { log_level: warning, log_output: [console], network_key: GENERATE, pan_id: GENERATE, cache_state_send_on_startup: false }
`;
}
