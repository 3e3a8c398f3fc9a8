import { createHmac, timingSafeEqual } from "node:crypto";

/** A call as a receiver took it. */
export interface ReceivedCall {
  readonly id: string;
  /** When it was signed, by the sender's clock. */
  readonly time_s: number;
  readonly type: string;
  readonly data: {
    readonly subject: string;
    readonly told: readonly CalledAlert[];
    readonly over: readonly CalledAlert[];
    readonly open: readonly CalledAlert[];
    readonly left_out: number;
  };
}

/** The fields of an alert that tests look at. */
export interface CalledAlert {
  readonly id: number;
  readonly home: number | null;
  readonly need: string;
  readonly item: string | null;
}

/** A real receiver of signed webhooks on a free port of this machine, by the words of Standard Webhooks alone. */
export class WebhookReceiver {
  readonly secret = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64")}`;
  readonly calls: ReceivedCall[] = [];
  /** Bodies of calls whose signature is wrong. */
  readonly forged: string[] = [];
  /** Answers to the next calls, instead of taking them: a status each, or none at all. */
  readonly refusals: (number | "silence")[] = [];
  #onSilence = () => {};
  #server = this.#listen(0);
  readonly #port = this.#server.port ?? 0;

  get url(): string {
    return `http://127.0.0.1:${this.#port}/hook?key=secret-of-the-address`;
  }

  /** Resolves once a call waits for an answer that does not come. */
  silent(): Promise<void> {
    return new Promise((resolve) => {
      this.#onSilence = resolve;
    });
  }

  /** Nobody listens from here on. */
  async stop(): Promise<void> {
    await this.#server.stop(true);
  }

  /** Listens again where it did. */
  comeBack(): void {
    this.#server = this.#listen(this.#port);
  }

  #listen(port: number): Bun.Server<unknown> {
    return Bun.serve({ hostname: "127.0.0.1", port, fetch: (request) => this.#take(request) });
  }

  async #take(request: Request): Promise<Response> {
    const body = await request.text();
    const refusal = this.refusals.shift();
    if (refusal === "silence") {
      this.#onSilence();
      return new Promise(() => {});
    }
    if (refusal !== undefined)
      return new Response("no", { status: refusal, headers: { location: "http://169.254.169.254/" } });
    const [id, time, signature] = ["id", "timestamp", "signature"].map(
      (name) => request.headers.get(`webhook-${name}`) ?? "",
    ) as [string, string, string];
    const key = Buffer.from(this.secret.replace("whsec_", ""), "base64");
    const own = createHmac("sha256", key).update(`${id}.${time}.${body}`).digest();
    const theirs = Buffer.from(signature.replace("v1,", ""), "base64");
    if (own.length !== theirs.length || !timingSafeEqual(own, theirs)) {
      this.forged.push(body);
      return new Response(null, { status: 401 });
    }
    this.calls.push({ id, time_s: Number(time), ...JSON.parse(body) });
    return new Response(null, { status: 204 });
  }
}
