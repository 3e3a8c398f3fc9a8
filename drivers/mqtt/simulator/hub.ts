import { connect, type MqttClient } from "mqtt";
import type { HubPublish } from "./messages.ts";

/** A hub's connection to a broker, as a hub's own library makes it: what was not acknowledged is sent again when the broker is back. */
export class SimulatedHub {
  readonly #client: MqttClient;

  private constructor(client: MqttClient) {
    this.#client = client;
  }

  /** Connects, again and again where it must. */
  static async connect(url: string): Promise<SimulatedHub> {
    const client = connect(url, { protocolVersion: 4, reconnectPeriod: 100, clean: true });
    client.on("error", () => {});
    if (!client.connected) await new Promise<void>((resolve) => client.once("connect", () => resolve()));
    return new SimulatedHub(client);
  }

  /** Resolves when the broker has acknowledged it, at QoS 0 when it was sent. */
  async publish({ topic, payload, retain = false }: HubPublish, qos: 0 | 1 = 1): Promise<void> {
    await this.#client.publishAsync(topic, payload, { qos, retain });
  }

  async end(): Promise<void> {
    await this.#client.endAsync(true);
  }
}
