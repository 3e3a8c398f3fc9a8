import { readFileSync, statSync } from "node:fs";
import { type Static, Type } from "@sinclair/typebox";
import { messageOf, OperatorError } from "../../src/base/errors.ts";
import type { Driver, DriverDefinition, DriverStatus, Host } from "../driver.ts";
import { Reconnect, type RetryBounds, type Session } from "../wire/reconnect.ts";
import { type Arrival, type Broker, type Connection, connect } from "./connection.ts";
import { silentFault } from "./faults.ts";
import { hubs } from "./hubs.ts";
import { Messages } from "./messages.ts";

const section = Type.Object(
  {
    url: Type.String({
      pattern: "^mqtts?://[^\\s/]+/?$",
      description: 'the address of a broker such as "mqtt://localhost:1883" or "mqtts://broker.example:8883"',
    }),
    user: Type.Optional(
      Type.String({ minLength: 1, description: "the name that the broker knows Lintel by" }),
    ),
    password_file: Type.Optional(
      Type.String({ minLength: 1, description: "the path of a file that holds the password for the broker" }),
    ),
    ca: Type.Optional(
      Type.String({
        minLength: 1,
        description:
          "the path of a file with the certificate, PEM, of the authority that the broker's is from",
      }),
    ),
    admit: Type.Optional(
      Type.Union([Type.Literal("known"), Type.Literal("all")], {
        description:
          '"known", or "all" to make an item of every sensor that the hubs tell of: at most 256 of them',
      }),
    ),
    topics: Type.Optional(
      Type.Object(
        Object.fromEntries(
          hubs.map(({ name, title, prefix }) => [
            name,
            Type.Optional(
              Type.String({
                pattern: "^[^+#\\s/][^+#]*$",
                description: `how the topics of ${title} begin, "${prefix}" unless it is set otherwise there`,
              }),
            ),
          ]),
        ),
        {
          additionalProperties: false,
          description: `a table of ${hubs.map(({ name }) => name).join(", ")}, each with how its topics begin`,
        },
      ),
    ),
  },
  { additionalProperties: false },
);

type Section = Static<typeof section>;

export const mqttDriver: DriverDefinition<typeof section> = {
  name: "mqtt",
  section,
  check: (config) => void credentialsOf(config),
  create: ({ config, host }) => new MqttDriver({ config, host }),
};

/** Sensors of other hubs, by a broker that keeps for the gateway what they say at QoS 1 until it is on disk. */
export class MqttDriver implements Driver {
  readonly #host: Host;
  readonly #broker: Broker;
  readonly #messages: Messages;
  readonly #connection: Reconnect;

  constructor({ config, host, bounds }: { config: Section; host: Host; bounds?: Partial<RetryBounds> }) {
    this.#host = host;
    this.#broker = brokerOf(config, host);
    const topics: Readonly<Record<string, string | undefined>> = config.topics ?? {};
    this.#messages = new Messages({ host, welcome: config.admit === "all", topics });
    this.#connection = new Reconnect({
      clock: host.clock,
      log: host.log,
      target: `MQTT broker ${this.#broker.url}`,
      silent: silentFault(this.#broker.url),
      bounds: { open_max_ms, ...bounds },
      open: (signal) => this.#open(signal),
    });
  }

  start(): void {
    this.#connection.start();
  }

  stop(): Promise<void> {
    return this.#connection.stop();
  }

  status(): DriverStatus {
    const status = this.#connection.status();
    const { sensors, unacknowledged } = this.#messages.counts;
    if (status.state !== "listening" || sensors === 0) return status;
    const lossy =
      unacknowledged === 0 ? "" : `, ${unacknowledged} of them at QoS 0: lost while the gateway is away`;
    return {
      ...status,
      detail: `${status.detail}, ${sensors} ${sensors === 1 ? "sensor" : "sensors"}${lossy}`,
    };
  }

  /** Joining asks nothing of the hubs: `Host.admits` lets sensors in while it is open. */
  async openJoining(): Promise<void> {}

  async closeJoining(): Promise<void> {}

  async #open(signal: AbortSignal): Promise<Session> {
    await this.#learnNames(signal);
    // Until the broker has answered, anything may have waited there.
    const phase = new Phase(this.#host, `lintel/${this.#broker.clientId}/here`);
    const connection = await this.#connect(signal, true, (arrival) => this.#take(arrival, phase));
    try {
      await connection.subscribe(this.#messages.subscriptions());
    } catch (thrown) {
      await connection.close();
      throw thrown;
    }
    const following = this.#messages.onTopic((topic) => {
      connection.subscribe([topic]).catch(() => this.#host.dropped("mqtt topics that the broker refused"));
    });
    phase.begin(connection);
    await connection.subscribe([phase.topic]).catch(() => {});
    connection.publish(phase.topic, phase.mark);
    return {
      detail: `MQTT broker ${this.#broker.url}`,
      ended: connection.ended,
      close: async () => {
        following();
        phase.end();
        await connection.close();
      },
    };
  }

  async #take(arrival: Arrival, phase: Phase): Promise<void> {
    if (phase.answered(arrival)) return;
    await this.#messages.take(arrival, arrival.retained ? "retained" : phase.delivery);
  }

  /** Learns the names of the hubs' devices first: otherwise what has waited at the broker would come before them. */
  async #learnNames(signal: AbortSignal): Promise<void> {
    const quiet = new Quiet(this.#host, quiet_ms);
    const connection = await this.#connect(signal, false, async (arrival) => {
      quiet.heard();
      this.#messages.learn(arrival);
    });
    try {
      await connection.subscribe(this.#messages.directories());
      quiet.heard();
      await Promise.race([quiet.reached, connection.ended]);
    } finally {
      quiet.end();
      await connection.close();
    }
  }

  #connect(
    signal: AbortSignal,
    lasting: boolean,
    take: (arrival: Arrival) => Promise<void>,
  ): Promise<Connection> {
    return connect({ broker: this.#broker, clock: this.#host.clock, lasting, take, signal });
  }
}

/** Resolves `reached` once nothing was heard for a while. */
class Quiet {
  readonly reached: Promise<void>;
  readonly #host: Host;
  readonly #quiet_ms: number;
  #reach = () => {};
  #cancel = () => {};

  constructor(host: Host, wait_ms: number) {
    this.#host = host;
    this.#quiet_ms = wait_ms;
    this.reached = new Promise((resolve) => {
      this.#reach = resolve;
    });
  }

  heard(): void {
    this.#cancel();
    this.#cancel = this.#host.clock.after(this.#quiet_ms, this.#reach);
  }

  end(): void {
    this.#cancel();
  }
}

/**
 * Whether what comes has waited at the broker. It sends what waits first, and then what this client sends to itself; where it does not let
 * clients publish, a quiet moment has to do.
 */
class Phase {
  readonly topic: string;
  /** A broker that was killed may send marks of connections before once more, among what waits. */
  readonly mark = crypto.randomUUID();
  readonly #quiet: Quiet;
  delivery: "late" | "live" = "late";

  constructor(host: Host, topic: string) {
    this.topic = topic;
    this.#quiet = new Quiet(host, late_quiet_ms);
  }

  begin({ resumed }: Connection): void {
    if (!resumed) this.delivery = "live";
    this.#quiet.heard();
    void this.#quiet.reached.then(() => {
      this.delivery = "live";
    });
  }

  /** Whether a message is this client's own, which says that nothing waits any more. */
  answered({ topic, payload }: Arrival): boolean {
    const isOwn = topic === this.topic;
    if (isOwn && new TextDecoder().decode(payload) === this.mark) this.delivery = "live";
    else if (this.delivery === "late") this.#quiet.heard();
    return isOwn;
  }

  end(): void {
    this.#quiet.end();
  }
}

function brokerOf(config: Section, host: Host): Broker {
  const credentials = credentialsOf(config);
  const file = config.password_file;
  if (file !== undefined && (statSync(file).mode & 0o007) !== 0)
    host.log.warn(`everybody on this machine may read the password in ${file}: chmod 640 it`);
  return { ...credentials, clientId: `lintel-${host.localAddress.replaceAll(":", "")}` };
}

/** @throws OperatorError where the section has no address, or names a file that is not there or holds something else */
function credentialsOf(config: Section): Omit<Broker, "clientId"> {
  const { url, user, password } = addressIn(config.url);
  const told = config.password_file === undefined ? undefined : passwordIn(config.password_file);
  return {
    url,
    user: config.user ?? user,
    password: told ?? password,
    ca: config.ca === undefined ? undefined : certificateIn(config.ca),
  };
}

function addressIn(written: string): Pick<Broker, "url" | "user" | "password"> {
  const told = (text: string) => (text === "" ? undefined : decodeURIComponent(text));
  try {
    const { protocol, host, username, password } = new URL(written);
    return { url: `${protocol}//${host}`, user: told(username), password: told(password) };
  } catch {
    // It may hold a password, and is not shown.
    throw new OperatorError(
      "[mqtt] url is no address of a broker",
      'write it as "mqtt://localhost:1883", and write special characters of user and password as %40 (for @)',
    );
  }
}

function passwordIn(file: string): string {
  const password = textIn(file, "the password for the MQTT broker").trim();
  if (password !== "") return password;
  throw new OperatorError(
    `[mqtt] password_file ${file} is empty`,
    "write the password into it, or leave the key out",
  );
}

function certificateIn(file: string): string {
  const text = textIn(file, "the certificate of [mqtt] ca");
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new OperatorError(
    `[mqtt] ca ${file} holds no certificate`,
    "name a file in PEM, which begins with -----BEGIN CERTIFICATE-----",
  );
}

function textIn(file: string, what: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    throw new OperatorError(
      `${what} cannot be read from ${file} (${messageOf(thrown)})`,
      "make it a file that the user who runs Lintel may read, or correct [mqtt]",
    );
  }
}

/** An attempt to connect that takes longer is given up: twice ten seconds, and what hubs tell of their devices. */
const open_max_ms = 60_000;
/** The hubs' devices are told by the broker at once: all of them, when nothing more comes for so long. */
const quiet_ms = 500;
const late_quiet_ms = 5_000;
