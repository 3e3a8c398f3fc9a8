import { expect, test } from "bun:test";
import { type GatewayHealth, troublesOf } from "../../src/gateway/gateway-status.ts";

const day_ms = 86_400_000;
const now_ms = 100 * day_ms;
const well: GatewayHealth = {
  now_ms,
  clock_synchronised: true,
  drivers: [{ name: "zigbee", state: "listening", since_ms: 0, detail: "" }],
  disk_free_bytes: 8e9,
  machine: { temperature_c: 45, power_low: false, life_used_percent: 10 },
};

test("a gateway that is well, or has nowhere to send to, has no trouble", () => {
  expect(troublesOf(well)).toEqual([]);
  expect(troublesOf({ ...well, upload: { since_ms: 0, uploaded_ms: now_ms - day_ms } })).toEqual([]);
});

test("troubles come worst first, each with its remedy", () => {
  const found = troublesOf({
    now_ms,
    clock_synchronised: false,
    drivers: [
      {
        name: "zigbee",
        state: "retrying",
        since_ms: 0,
        detail: "",
        problem: "/dev/x is not there: plug it in",
      },
    ],
    problem: "the disk is full: make room",
    disk_free_bytes: 5 * 2 ** 20,
    machine: {
      disk: "mmcblk0",
      temperature_c: 82.4,
      power_low: false,
      power_low_ms: now_ms - day_ms,
      life_used_percent: 90,
    },
    upload: { since_ms: 0, uploaded_ms: now_ms - 4 * day_ms },
  });
  expect(found.map(({ what }) => what)).toEqual([
    "Readings cannot be written: the disk is full: make room.",
    "Nothing is heard by [zigbee]: /dev/x is not there: plug it in.",
    "The disk of the gateway is nearly full: 5 MiB are free.",
    "The power supply of the gateway is too weak.",
    "The gateway is 82 °C hot, and slows itself down.",
    "mmcblk0 is nearly worn out, as it says itself.",
    "The gateway does not know the time: what it hears is kept, and shown once it does.",
    "Nothing has gone to central for 4 days.",
  ]);
});

test("an upload that fails is told with its reason, once a night has been missed, and not in the first days of a box", () => {
  const failed = { failed_ms: now_ms - 1, failure: "central refuses the token: make another" };
  const upload = (given: object) => troublesOf({ ...well, upload: { since_ms: 0, ...given } });
  expect(upload({ ...failed, uploaded_ms: now_ms - day_ms })).toEqual([]);
  expect(upload({ ...failed, uploaded_ms: now_ms - 3 * day_ms })).toEqual([
    { what: "Nothing has gone to central for 3 days: central refuses the token: make another." },
  ]);
  expect(troublesOf({ ...well, upload: { since_ms: now_ms - day_ms, ...failed } })).toEqual([]);
});
