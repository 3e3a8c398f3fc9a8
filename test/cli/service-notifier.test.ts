import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { serviceNotifier } from "../../src/cli/serving.ts";
import { ServiceManager } from "../fakes/service-manager.ts";

let directory = "";
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "lintel-service-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

function notifier(env: Record<string, string>, problems: string[] = []) {
  return serviceNotifier({ env, pid: 4711, report: (problem) => problems.push(problem) });
}

for (const kind of ["a path", "an abstract name"]) {
  test(`systemd is told on ${kind} of readiness, status, life and stopping`, () => {
    const address = kind === "a path" ? join(directory, "notify") : `@lintel-test-${process.pid}`;
    const manager = new ServiceManager(address);
    const service = notifier({ NOTIFY_SOCKET: address });
    service?.ready("serving\nhttp://127.0.0.1:8080");
    expect(manager.next()).toBe("READY=1\nSTATUS=serving http://127.0.0.1:8080");
    service?.status("3 items\u001b[2J\r\nMAINPID=1\u2028WATCHDOG=1");
    expect(manager.next()).toBe("STATUS=3 items[2J MAINPID=1 WATCHDOG=1");
    service?.alive();
    expect(manager.next()).toBe("WATCHDOG=1");
    service?.stopping();
    expect(manager.next()).toBe("STOPPING=1");
    expect(manager.next()).toBeUndefined();
    service?.close();
    manager.close();
  });
}

test("without a service manager nobody is told", () => {
  expect(notifier({})).toBeUndefined();
  expect(notifier({ NOTIFY_SOCKET: "" })).toBeUndefined();
});

test("the watchdog's time is taken only when this process is the one that is watched", () => {
  const manager = new ServiceManager(join(directory, "notify"));
  const env = { NOTIFY_SOCKET: join(directory, "notify"), WATCHDOG_USEC: "60000000" };
  const times = [env, { ...env, WATCHDOG_PID: "4711" }, { ...env, WATCHDOG_PID: "1" }].map((one) => {
    const service = notifier(one);
    service?.close();
    return service?.watchdog_ms;
  });
  expect(times).toEqual([60_000, 60_000, undefined]);
  manager.close();
});

test("a service manager that does not listen is said once", () => {
  const problems: string[] = [];
  const service = notifier({ NOTIFY_SOCKET: join(directory, "nobody") }, problems);
  service?.ready("up");
  service?.alive();
  expect(problems).toEqual([
    `systemd does not listen on ${join(directory, "nobody")}: it may restart this process`,
  ]);
  service?.close();
});
