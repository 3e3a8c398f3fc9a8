import { afterAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { MqttDriver } from "../../../drivers/mqtt/driver.ts";
import { SimulatedHub } from "../../../drivers/mqtt/simulator/hub.ts";
import { zigbeeDevices, zigbeeState } from "../../../drivers/mqtt/simulator/messages.ts";
import { mosquitto, startBroker } from "../../../testbed/broker.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";

const directory = temporaryDirectory();
afterAll(() => directory.remove());
const bounds = { least_ms: 50, most_ms: 200 };
const motion = { ieee: "0x00158d0001a2b3c4", name: "hall", model: "m", vendor: "v" };

function file(name: string, text: string, mode = 0o600): string {
  const path = join(directory.path, name);
  writeFileSync(path, text);
  chmodSync(path, mode);
  return path;
}

function newHost(name: string): RecordingHost {
  return new RecordingHost({ directory: join(directory.path, name) });
}

test.skipIf(mosquitto === null)(
  "user and password are asked for by the broker, and a wrong one is a line",
  async () => {
    const passwords = join(directory.path, "passwords");
    Bun.spawnSync(["mosquitto_passwd", "-b", "-c", passwords, "lintel", "right"]);
    const broker = await startBroker([`password_file ${passwords}`], { anonymous: false });
    const host = newHost("password");
    const wrong = new MqttDriver({
      config: { url: broker.url.replace("//", "//lintel:wrong@") },
      host,
      bounds,
    });
    wrong.start();
    await host.until("the refusal", () => wrong.status().state === "retrying");
    expect(wrong.status().problem).toMatch(/does not let Lintel in|refuses user or password/);
    expect(wrong.status().problem).not.toContain("wrong@");
    await wrong.stop();
    const config = { url: broker.url, user: "lintel", password_file: file("password.txt", "right\n", 0o644) };
    const right = new MqttDriver({ config, host, bounds });
    expect(host.said(/everybody on this machine may read the password/)).toBeDefined();
    right.start();
    await host.until("the broker", () => right.status().state === "listening");
    await right.stop();
    await broker.remove();
  },
);

test.skipIf(mosquitto === null)(
  "a broker with TLS is believed by its authority, and not without",
  async () => {
    const [certificate, key] = [join(directory.path, "broker.pem"), join(directory.path, "broker.key")];
    const made = Bun.spawnSync(
      `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=broker -addext subjectAltName=IP:127.0.0.1 -keyout ${key} -out ${certificate}`.split(
        " ",
      ),
    );
    expect(made.exitCode).toBe(0);
    const broker = await startBroker([`certfile ${certificate}`, `keyfile ${key}`]);
    const url = broker.url.replace("mqtt:", "mqtts:");
    const host = newHost("tls");
    const stranger = new MqttDriver({ config: { url }, host, bounds });
    stranger.start();
    await host.until("the refusal", () => stranger.status().state === "retrying");
    expect(stranger.status().problem).toContain("has a certificate that is not trusted");
    await stranger.stop();
    const driver = new MqttDriver({ config: { url, ca: certificate }, host, bounds });
    driver.start();
    await host.until("the broker", () => driver.status().state === "listening");
    await driver.stop();
    await broker.remove();
  },
);

test.skipIf(mosquitto === null)("a broker that lets Lintel read and not write is listened to", async () => {
  const rights = file(
    "rights",
    "topic readwrite zigbee2mqtt/#\ntopic read homeassistant/#\ntopic read home/#\ntopic read zwave/#\n",
  );
  const broker = await startBroker([`acl_file ${rights}`]);
  const hub = await SimulatedHub.connect(broker.url);
  await hub.publish(zigbeeDevices([motion]));
  const host = newHost("reader");
  const driver = new MqttDriver({ config: { url: broker.url }, host, bounds });
  driver.start();
  await host.until("the broker", () => driver.status().state === "listening");
  await hub.publish(zigbeeState("hall", { occupancy: true }));
  await host.until("the event", () => host.readings.length === 1);
  await driver.stop();
  await hub.end();
  await broker.remove();
});

test("an address that is none is one line, which shows no password", () => {
  for (const url of ["mqtt://lintel:secret@a:b:c", "mqtt://lintel:secret%zz@localhost"]) {
    const create = () => new MqttDriver({ config: { url }, host: newHost("address") });
    expect(create).toThrow(/^\[mqtt\] url is no address of a broker: write it as "mqtt:\/\/localhost:1883"/);
    expect(create).not.toThrow(/secret/);
  }
});

test("a file that cannot be read is one line with the remedy", () => {
  const create = () =>
    new MqttDriver({ config: { url: "mqtt://localhost", password_file: "/nowhere" }, host: newHost("none") });
  expect(create).toThrow(/the password for the MQTT broker cannot be read from \/nowhere .*: make it a file/);
});
