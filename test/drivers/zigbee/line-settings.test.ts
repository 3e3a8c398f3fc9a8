import { afterAll, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { openPty } from "../../../drivers/wire/pty.ts";
import { stickAt, stickNamed, sticks } from "../../../drivers/wire/sticks.ts";
import { ZigbeeDriver, type ZigbeeOptions, zigbeeDriver } from "../../../drivers/zigbee/driver.ts";
import { RecordingHost, temporaryDirectory } from "../../../testbed/recording-host.ts";
import { testAtNight } from "../../at-night.ts";

const directory = temporaryDirectory();
afterAll(() => directory.remove());

/** The settings that the kernel holds for a line when the driver has written its first bytes. */
async function settingsOf(config: ZigbeeOptions["config"], name: string): Promise<string[]> {
  const pty = openPty();
  const path = join(directory.path, name);
  symlinkSync(pty.path, path);
  const host = new RecordingHost({ directory: join(directory.path, `${name}.files`) });
  const driver = new ZigbeeDriver({ config: { ...config, port: path }, host });
  driver.start();
  await pty.read.getReader().read();
  const all = Bun.spawnSync(["stty", "-a", "-F", pty.path]).stdout.toString();
  await driver.stop();
  // The pty stays open, so that no other test gets its number: zigbee-herdsman's deconz adapter opens its port again after its end.
  return [/speed \d+/.exec(all)?.[0] ?? "", / -?crtscts/.exec(all)?.[0].trim() ?? ""];
}

const usual = ["speed 115200", "-crtscts"];
const held = ["speed 115200", "crtscts"];

/** Names as udev makes them of the sticks' own words; rate and flow control as the makers and zigbee-herdsman's documentation say. */
const named: readonly [name: string, settings: readonly string[]][] = [
  ["usb-SONOFF_SONOFF_Dongle_Plus_CC2674P10_141ff85f6b12f011-if00-port0", usual],
  ["usb-SONOFF_SONOFF_Dongle_Plus_MG24_b023a583a66bef11-if00-port0", usual],
  ["usb-SONOFF_SONOFF_Dongle_Lite_MG21_c82fc0a1a36bef11-if00-port0", usual],
  ["usb-SONOFF_SONOFF_Dongle_Max_MG24_08965d6b0674ef11-if00-port0", usual],
  ["usb-ITEAD_SONOFF_Zigbee_3.0_USB_Dongle_Plus_V2_20240122184111-if00", usual],
  ["usb-ITead_Sonoff_Zigbee_3.0_USB_Dongle_Plus_b8b49abd27a6ed11-if00-port0", usual],
  ["usb-dresden_elektronik_ConBee_III_DE03188111-if00-port0", usual],
  ["usb-dresden_elektronik_ingenieurtechnik_GmbH_ConBee_II_DE2132111-if00", ["speed 38400", "-crtscts"]],
  ["usb-Nabu_Casa_ZBT-2_10B41DE58D6C-if00", ["speed 460800", "crtscts"]],
  ["usb-Nabu_Casa_Home_Assistant_Connect_ZBT-1_9e2adbd75b8beb11-if00-port0", held],
  ["usb-Nabu_Casa_SkyConnect_v1.0_3abe54797c91ed11-if00-port0", held],
  ["usb-SMLIGHT_SMLIGHT_SLZB-07p7_be9faa0786e1ea11-if00-port0", usual],
  ["usb-SMLIGHT_SMLIGHT_SLZB-06p10_40df2f3e3977ed11-if00-port0", usual],
  ["usb-SMLIGHT_SMLIGHT_SLZB-07_be9faa0786e1ea11-if00-port0", held],
  ["usb-SMLIGHT_SMLIGHT_SLZB-07mg24_be9faa0786e1ea11-if00-port0", held],
  ["usb-SMLIGHT_SMLIGHT_SLZB-06m_be9faa0786e1ea11-if00-port0", usual],
  ["usb-Electrolama_zig-a-zig-ah!_0001-if00-port0", usual],
  ["usb-Silicon_Labs_slae.sh_cc2652rb_stick_-_slaesh_s_iot_stuff_00_12_4B_00_21-if00-port0", usual],
  ["usb-Texas_Instruments_CC2538_USB_CDC-if00", usual],
  ["usb-Texas_Instruments_TI_CC2531_USB_CDC___0X00124B0018ED1111-if00", usual],
  ["usb-Texas_Instruments_XDS110__03.00.00.05__Embed_with_CMSIS-DAP_L1100H8A-if00", usual],
  ["usb-FTDI_ZiGate_ZIGATE+-if00-port0", usual],
  ["usb-ZEPHYR_ZBOSS_NCP_54ACCFAFA6DAD111-if00", usual],
];

test("every Zigbee stick that setup names is among these", () => {
  const covered = new Set(named.map(([name]) => stickNamed(name)));
  expect(sticks.filter((stick) => stick.driver === "zigbee" && !covered.has(stick))).toEqual([]);
});

for (const [name, settings] of named) {
  const adapter = stickNamed(name)?.adapter;
  const testOf = adapter === "zstack" ? test : testAtNight;
  testOf(`${name} is opened with ${settings.join(" and ")}`, async () => {
    if (adapter === undefined) throw new Error("setup would ask for the type");
    expect(await settingsOf({ port: "", adapter }, name)).toEqual([...settings]);
  });
}

testAtNight("what the configuration says of the line goes before what is known of the stick", async () => {
  const config = { port: "", adapter: "ember", baudrate: 57_600, rtscts: false } as const;
  expect(await settingsOf(config, "usb-Nabu_Casa_ZBT-2_another-if00")).toEqual(["speed 57600", "-crtscts"]);
});

test("a stick is known by any path that leads to it", () => {
  const byId = join(directory.path, "by-id");
  mkdirSync(byId);
  symlinkSync("/dev/null", join(byId, "usb-Nabu_Casa_ZBT-2_10B41DE58D6C-if00"));
  symlinkSync("/dev/null", join(directory.path, "zigbee"));
  for (const path of ["/dev/null", join(directory.path, "zigbee")])
    expect(stickAt(path, byId)).toMatchObject({ baudrate: 460_800, rtscts: true });
  for (const path of ["/dev/zero", "/dev/none", "tcp://127.0.0.1:8888"])
    expect(stickAt(path, byId)).toBeUndefined();
});

test("a stick of Nabu Casa for Z-Wave is no Zigbee adapter", () => {
  expect(stickNamed("usb-Nabu_Casa_ZWA-2_1CDBD45C26B4-if00")?.driver).toBeUndefined();
});

test("flow control is refused for adapters that open their line without it", () => {
  const config = { port: "/dev/none", adapter: "deconz", rtscts: true } as const;
  const host = new RecordingHost({ directory: directory.path });
  expect(() => zigbeeDriver.create({ config, host })).toThrow(
    "[zigbee] rtscts is true, and the adapter deconz has no flow control",
  );
});
