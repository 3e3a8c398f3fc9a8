import { OperatorError } from "../errors.ts";

/** The service of the gateway, under whatever starts it with the machine and again when it ends. */
export interface Service {
  /** How it is. */
  state(): Promise<ServiceState>;
  /** Starts it, and does not wait until it serves. */
  start(): Promise<void>;
  /** It has ended when this resolves. */
  stop(): Promise<void>;
}

export interface ServiceState {
  /** It has said that it serves. */
  readonly serving: boolean;
  /** It was given up. */
  readonly failed: boolean;
  /** How many times it has ended by itself, or was ended because its watchdog was silent, since it was last started on purpose. */
  readonly restarts: number;
}

/** A service of systemd. */
export function systemdService(unit = "lintel.service"): Service {
  const systemctl = async (...words: string[]) => {
    const child = Bun.spawn(["systemctl", ...words], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const [out, said, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (code === 0) return out;
    throw new OperatorError(
      `systemctl ${words[0]} ${unit} failed (${said.trim() || `exit ${code}`})`,
      `see systemctl status ${unit}`,
    );
  };
  return {
    async state() {
      const out = await systemctl("show", unit, "--property=ActiveState,NRestarts");
      const facts = new Map(out.split("\n").map((line) => line.split("=") as [string, string]));
      const active = facts.get("ActiveState");
      return {
        serving: active === "active",
        failed: active === "failed",
        restarts: Number(facts.get("NRestarts") ?? 0),
      };
    },
    start: async () => void (await systemctl("start", "--no-block", unit)),
    stop: async () => void (await systemctl("stop", unit)),
  };
}
