import type { IClientOptions, MqttClient } from "mqtt";
import type { Clock, Moment } from "../../src/base/clock.ts";
import { OperatorError } from "../../src/base/errors.ts";
import { faultOf, goneFault } from "./faults.ts";
import { PacketSizes } from "./packet-sizes.ts";

/** A broker, and who asks it. */
export interface Broker {
  /** `mqtt://` or `mqtts://`, without credentials. */
  readonly url: string;
  readonly user?: string | undefined;
  readonly password?: string | undefined;
  /** Certificates of the authority that a broker with TLS must have, as PEM. */
  readonly ca?: string | undefined;
  /** The same after every start: the broker keeps what comes meanwhile under this name. */
  readonly clientId: string;
}

/** A message as it came. */
export interface Arrival {
  readonly topic: string;
  readonly payload: Uint8Array;
  readonly moment: Moment;
  /** The state that the broker keeps of a topic, sent because it was subscribed to. */
  readonly retained: boolean;
  /** The broker keeps it until it is acknowledged. */
  readonly acknowledged: boolean;
}

export interface ConnectionOptions {
  readonly broker: Broker;
  readonly clock: Clock;
  /** The broker keeps subscriptions, and what comes, while nobody is connected. */
  readonly lasting: boolean;
  /** Resolves once a message needs the broker no more. Never rejects. */
  readonly take: (arrival: Arrival) => Promise<void>;
  readonly signal: AbortSignal;
}

/** An open connection to a broker. */
export interface Connection {
  /** The broker had kept a session, and may now send what has waited. */
  readonly resumed: boolean;
  /** Resolves with the reason when the connection ends by itself. */
  readonly ended: Promise<OperatorError>;
  /** Subscribes at QoS 1. Rejects with an OperatorError where the broker refuses. */
  subscribe(topics: readonly string[]): Promise<void>;
  /** Sends a message, which the broker answers behind all that it has sent before, if it lets this client publish. */
  publish(topic: string, payload: string): void;
  close(): Promise<void>;
}

/**
 * Connects to a broker by MQTT 5, or 3.1.1 where it has no other. A message is acknowledged once `take` has resolved; up to
 * `in_flight_max` are taken at once, and no more is read from the wire. Rejects with an OperatorError.
 */
export async function connect(options: ConnectionOptions): Promise<Connection> {
  try {
    return await connectAs(5, options);
  } catch (thrown) {
    if (!(thrown instanceof OldBroker)) throw thrown;
    return await connectAs(4, options);
  }
}

/** The broker does not speak MQTT 5. */
class OldBroker extends OperatorError {
  constructor(url: string) {
    super(`the MQTT broker ${url} does not speak MQTT 5`, "it is asked by MQTT 3.1.1");
  }
}

async function connectAs(version: 4 | 5, options: ConnectionOptions): Promise<Connection> {
  const { broker, signal } = options;
  // Loaded where a broker is configured: it costs memory.
  const { connect: connectClient } = await import("mqtt");
  const client = connectClient(broker.url, clientOptions(version, options));
  handOver(client, options);
  boundPackets(client, broker.url);
  let fault: OperatorError | undefined;
  client.on("error", (thrown) => {
    fault ??= faultOf(thrown, broker.url);
  });
  client.on("disconnect", (packet) => {
    fault ??= faultOf({ code: packet.reasonCode }, broker.url);
  });
  const ended = new Promise<OperatorError>((resolve) => {
    client.on("close", () => resolve(fault ?? goneFault(broker.url)));
  });
  const close = () => end(client);
  try {
    const resumed = await connected(client, { ended, signal, version, url: broker.url });
    return {
      resumed,
      ended,
      subscribe: (topics) => subscribe(client, topics, broker.url),
      publish: (topic, payload) => client.publish(topic, payload, { qos: 1 }, () => {}),
      close,
    };
  } catch (thrown) {
    await close();
    throw thrown;
  }
}

function clientOptions(version: 4 | 5, { broker, lasting }: ConnectionOptions): IClientOptions {
  return {
    protocolVersion: version,
    clientId: lasting ? broker.clientId : `${broker.clientId}-names`,
    clean: !lasting,
    ...(broker.user === undefined ? {} : { username: broker.user }),
    ...(broker.password === undefined ? {} : { password: broker.password }),
    ...(broker.ca === undefined ? {} : { ca: broker.ca }),
    keepalive: keepalive_s,
    connectTimeout: connect_max_ms,
    // Trying again is the driver's: its waits, its status and its line in the log.
    reconnectPeriod: 0,
    resubscribe: false,
    queueQoSZero: false,
    ...(version === 5
      ? {
          properties: {
            receiveMaximum: in_flight_max,
            maximumPacketSize: packet_max_bytes,
            ...(lasting ? { sessionExpiryInterval: session_max_s } : {}),
          },
        }
      : {}),
  };
}

/**
 * Hands over what comes. The library acknowledges a message when its handler calls back without a fault, and reads no other until then:
 * so the handler calls back with one at once, and the acknowledgement is written here when the message is on disk.
 */
function handOver(client: MqttClient, { clock, take }: ConnectionOptions): void {
  let inFlight = 0;
  let goOn: (() => void) | undefined;
  client.handleMessage = (packet, callback) => {
    const acknowledged = packet.qos > 0;
    const { topic, messageId, retain: retained } = packet;
    const payload = typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
    inFlight += 1;
    void take({ topic, payload, moment: clock.now(), retained, acknowledged }).then(() => {
      inFlight -= 1;
      if (acknowledged && messageId !== undefined && client.stream.writable)
        client.stream.write(encodePuback(messageId));
      goOn?.();
    });
    const next = () => {
      goOn = undefined;
      callback(acknowledged ? unacknowledged : undefined);
    };
    if (inFlight < in_flight_max) next();
    else goOn = next;
  };
}

const unacknowledged = new Error("not acknowledged yet");

/** PUBACK, the same in MQTT 3.1.1 (3.4) and, without a reason, in MQTT 5 (3.4). */
export function encodePuback(messageId: number): Uint8Array {
  return Uint8Array.of(0x40, 2, messageId >> 8, messageId & 0xff);
}

/** Ends the connection where a packet is too large to be held: MQTT 3.1.1 cannot tell the broker. */
function boundPackets(client: MqttClient, url: string): void {
  const sizes = new PacketSizes();
  client.stream.on("data", (bytes: Uint8Array) => {
    if (sizes.push(bytes) <= packet_max_bytes) return;
    client.stream.destroy(
      Object.assign(
        new OperatorError(
          `the MQTT broker ${url} sends a message of more than ${packet_max_bytes / 1024 ** 2} MiB`,
          "let the broker speak MQTT 5, or refuse such messages (message_size_limit of mosquitto)",
        ),
        { code: "EMSGSIZE" },
      ),
    );
  });
}

async function connected(
  client: MqttClient,
  about: { ended: Promise<OperatorError>; signal: AbortSignal; version: 4 | 5; url: string },
): Promise<boolean> {
  const { ended, signal, version, url } = about;
  return await new Promise((resolve, reject) => {
    const abandon = () => reject(goneFault(url));
    signal.addEventListener("abort", abandon, { once: true });
    client.once("connect", ({ sessionPresent }) => {
      signal.removeEventListener("abort", abandon);
      resolve(sessionPresent);
    });
    client.once("error", (thrown) => {
      const { code } = thrown as { code?: unknown };
      // 3.1.1 brokers answer a MQTT 5 client with return code 1, MQTT 5 ones with reason 132.
      if (version === 5 && (code === 1 || code === 132)) reject(new OldBroker(url));
    });
    void ended.then((fault) => {
      signal.removeEventListener("abort", abandon);
      reject(fault);
    });
  });
}

async function subscribe(client: MqttClient, topics: readonly string[], url: string): Promise<void> {
  if (topics.length === 0) return;
  const granted = await client.subscribeAsync([...topics], { qos: 1 });
  const refused = granted.filter(({ qos }) => qos >= 128).map(({ topic }) => topic);
  if (refused.length === 0) return;
  throw new OperatorError(
    `the MQTT broker ${url} does not let Lintel subscribe to ${refused.slice(0, 3).join(", ")}`,
    "let its user read those topics, in the broker's list of rights",
  );
}

async function end(client: MqttClient): Promise<void> {
  await new Promise<void>((resolve) => {
    client.end(true, () => resolve());
  });
}

/** Messages that wait for the disk at once; no more are read then. */
export const in_flight_max = 100;
/** A hub's list of two hundred devices has some 1 MB. */
export const packet_max_bytes = 4 * 1024 ** 2;
const keepalive_s = 30;
const connect_max_ms = 10_000;
/** A broker of MQTT 5 forgets who stays away for longer; one of 3.1.1 does as it is told by its own configuration. */
const session_max_s = 90 * 24 * 3_600;
