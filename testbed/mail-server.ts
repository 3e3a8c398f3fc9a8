import type { AddressInfo } from "node:net";
import { SMTPServer } from "smtp-server";

/** A mail as a server took it. */
export interface ReceivedMail {
  readonly to: string;
  readonly subject: string;
  readonly messageId: string;
  /** Lines end with `\n`. */
  readonly text: string;
}

/** A real SMTP server on a free port of this machine, without TLS, that keeps what it takes. */
export class MailServer {
  readonly mails: ReceivedMail[] = [];
  /** Answers to the next mails, instead of taking them: an SMTP code each, or none at all. */
  readonly refusals: (number | "silence")[] = [];
  readonly #server: SMTPServer;
  #waiting: (() => void)[] = [];

  private constructor() {
    this.#server = new SMTPServer({
      authOptional: true,
      disableReverseLookup: true,
      disabledCommands: ["STARTTLS", "AUTH"],
      onData: (stream, session, done) => {
        const parts: Buffer[] = [];
        stream.on("data", (part: Buffer) => parts.push(part));
        stream.on("end", () => {
          const code = this.refusals.shift();
          if (code === "silence") return this.#wake();
          if (code !== undefined) return done(Object.assign(new Error("try later"), { responseCode: code }));
          const to = session.envelope.rcptTo[0]?.address ?? "";
          this.mails.push(parsed(to, Buffer.concat(parts).toString()));
          done();
          this.#wake();
        });
      },
    });
  }

  static async start(port = 0): Promise<MailServer> {
    const server = new MailServer();
    await new Promise<void>((ready) => server.#server.listen(port, "127.0.0.1", ready));
    return server;
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `smtp://127.0.0.1:${this.port}`;
  }

  /** Resolves once every answer of `refusals` was given. */
  async refused(): Promise<void> {
    while (this.refusals.length > 0) await new Promise<void>((wake) => this.#waiting.push(wake));
  }

  #wake(): void {
    for (const wake of this.#waiting.splice(0)) wake();
  }

  /** Resolves once so many mails are here. */
  async received(count: number): Promise<readonly ReceivedMail[]> {
    while (this.mails.length < count) await new Promise<void>((wake) => this.#waiting.push(wake));
    return this.mails;
  }

  stop(): Promise<void> {
    return new Promise((end) => this.#server.close(() => end()));
  }
}

function parsed(to: string, raw: string): ReceivedMail {
  const [head = "", ...body] = raw.replaceAll("\r\n", "\n").split("\n\n");
  const unfolded = head.replaceAll(/\n[ \t]/g, " ");
  const header = (name: string) => new RegExp(`^${name}: (.*)$`, "im").exec(unfolded)?.[1] ?? "";
  const text = body.join("\n\n");
  const isQuoted = header("Content-Transfer-Encoding") === "quoted-printable";
  return {
    to,
    subject: header("Subject"),
    messageId: header("Message-ID"),
    text: isQuoted ? unquoted(text) : text,
  };
}

function unquoted(text: string): string {
  return text
    .replaceAll("=\n", "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}
