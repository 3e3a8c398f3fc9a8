import { afterAll, describe, expect, test } from "bun:test";
import type { Finding } from "../../src/cli/doctor/finding.ts";
import { serviceFindings } from "../../src/cli/doctor/system-checks.ts";
import { lintelHere } from "../../testbed/command-here.ts";
import { eventually, Site } from "../../testbed/front-door.ts";

const site = new Site({ commands: lintelHere });
afterAll(() => site.remove());

test("doctor does not praise a port on which the running gateway hears nothing", async () => {
  const deaf = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: { data: (socket) => void socket.end() },
  });
  const port = `tcp://127.0.0.1:${deaf.port}`;
  site.configure({ sections: `[zigbee]\nport = "${port}"\nadapter = "zstack"` });
  const doctor = async () => {
    const { out } = await site.lintel("doctor", "--json", "--config", site.config);
    return (JSON.parse(out) as Finding[]).filter(({ text }) => text.startsWith("[zigbee]"));
  };
  expect(await doctor()).toEqual([{ state: "fine", text: `[zigbee] ${port} takes connections` }]);
  const gateway = await site.run();
  const found = await eventually(async () => {
    const findings = await doctor();
    return findings.some(({ state }) => state === "fault") ? findings : undefined;
  }, "the driver's problem");
  expect(found).toEqual([
    {
      state: "fault",
      text: expect.stringMatching(/^\[zigbee\] retrying for .* in the running gateway: .+/),
      remedy: "correct that; it tries again by itself",
    },
  ]);
  site.configure({ sections: `[pillbox]\nport = "${port}"` });
  const { out } = await site.lintel("doctor", "--config", site.config);
  expect(out).toContain("✗ [pillbox] is not what the gateway was started with");
  await gateway.stop();
  deaf.stop(true);
});

describe("doctor says what systemd says", () => {
  const shown = (facts: Readonly<Record<string, string>>) =>
    Object.entries({
      LoadState: "loaded",
      UnitFileState: "enabled",
      Result: "success",
      NRestarts: "0",
      StatusText: "",
      ...facts,
    })
      .map(([name, value]) => `${name}=${value}`)
      .join("\n");
  const last = "lintel: /etc/lintel/lintel.toml line 3: unknown key = no: did you mean data?";

  test.each<[string, Readonly<Record<string, string>>, readonly Partial<Finding>[]]>([
    [
      "that it is not there",
      { LoadState: "not-found" },
      [{ state: "note", text: expect.stringContaining("is not installed") }],
    ],
    [
      "that it serves, in the words of the service",
      { ActiveState: "active", SubState: "running", StatusText: "serving http://a:8080/v0.9" },
      [{ state: "fine", text: "lintel.service is active (running): serving http://a:8080/v0.9" }],
    ],
    [
      "that it ends again and again, with the last line of its log",
      { ActiveState: "activating", SubState: "auto-restart", Result: "exit-code", NRestarts: "41" },
      [
        {
          state: "fault",
          text: `lintel.service is activating (auto-restart, started again 41 times): its last line is "${last}"`,
        },
      ],
    ],
    [
      "that it has failed and does not start with the machine",
      { UnitFileState: "disabled", ActiveState: "failed", SubState: "failed" },
      [
        { text: "lintel.service does not start with the machine (disabled)" },
        { text: expect.stringContaining("is failed (failed): its last line is") },
      ],
    ],
    ["that it is starting", { ActiveState: "activating", SubState: "start" }, [{ state: "note" }]],
  ])("%s", (_, facts, findings) => {
    expect(serviceFindings(shown(facts), () => last)).toMatchObject([...findings]);
  });

  test("and does not take a systemd that says nothing for one that has no such unit", () => {
    expect(serviceFindings("", () => "")).toMatchObject([
      { state: "note", text: expect.stringContaining("systemd does not say how lintel.service is") },
    ]);
  });

  test("and why it ended, where the user may not read its log", () => {
    const facts = { ActiveState: "failed", SubState: "failed", Result: "watchdog" };
    expect(serviceFindings(shown(facts), () => "")[0]?.text).toBe(
      "lintel.service is failed (failed): watchdog",
    );
  });
});
