import { expect, test } from "bun:test";
import { join } from "node:path";
import { openPty } from "../../../wire/pty.ts";
import { closed, openPort } from "./wire.ts";

const program = join(import.meta.dir, "hold-port.ts");

test("a port that another process holds says so, with the process, until that is killed", async () => {
  const pty = openPty();
  const holder = Bun.spawn([process.execPath, program, pty.path], { stdout: "pipe" });
  try {
    const said = await holder.stdout.getReader().read();
    expect(Buffer.from(said.value ?? []).toString()).toBe("open\n");

    const refused = openPort(pty.path);
    await expect(refused).rejects.toThrow("Cannot lock port");
    await expect(refused).rejects.toThrow(`process ${holder.pid} (bun) holds ${pty.path}`);
    // Without the lock it is shared, as the option says.
    await closed(await openPort(pty.path, { lock: false }));
  } finally {
    holder.kill("SIGKILL");
    await holder.exited;
  }
  await closed(await openPort(pty.path));
  pty.close();
});

test("a second open in the same process is refused too, until the first is closed", async () => {
  const pty = openPty();
  const first = await openPort(pty.path);
  await expect(openPort(pty.path)).rejects.toThrow("this process holds");
  await closed(first);
  await closed(await openPort(pty.path));
  pty.close();
});
