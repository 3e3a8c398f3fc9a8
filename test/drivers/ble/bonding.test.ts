import { expect, test } from "bun:test";
import type { SecurityFault, SimulatedSecurityOptions } from "../../../drivers/ble/simulator/security.ts";
import type { PairingPerson } from "../../../drivers/driver.ts";
import { nightly } from "../../../testbed/nightly.ts";
import { address, startBonded } from "./bonded-device.ts";
import { bthome } from "./rig.ts";

const value = Uint8Array.of(7, 7);

/** A person at the device and one at the gateway: digits that one end shows are typed at the other. */
function people(): {
  person: Partial<PairingPerson>;
  atDevice: SimulatedSecurityOptions["person"];
  compared: string[];
} {
  const shown = { device: Promise.withResolvers<string>(), gateway: Promise.withResolvers<string>() };
  const compared: string[] = [];
  return {
    compared,
    atDevice: (digits) => {
      if (digits === undefined) return shown.gateway.promise;
      shown.device.resolve(digits);
      return digits;
    },
    person: {
      reads: (_, digits) => shown.gateway.resolve(digits),
      typesNumber: () => shown.device.promise,
      compares: async (_, digits) => {
        compared.push(digits);
        return true;
      },
    },
  };
}

for (const legacy of [true, false]) {
  for (const [method, capability, byNumber] of [
    ["just works", "none", false],
    ["digits shown by the gateway", "keyboardOnly", true],
    ["digits typed at the gateway", "displayOnly", true],
    ["digits compared, or typed where they cannot be", "displayYesNo", true],
  ] as const) {
    const kind = legacy ? "legacy pairing" : "secure connections";
    test(`${kind}, ${method}: pairs while joining is open, and later connections are encrypted by the key`, async () => {
      const { person, atDevice, compared } = people();
      const security = { legacy, capability, ...(atDevice === undefined ? {} : { person: atDevice }) };
      const needs = byNumber ? "number" : "encryption";
      await using bonded = await startBonded({ security, needs });
      expect(await bonded.connect()).toMatch(
        /: it speaks only to a paired gateway: run lintel pair and put it into its pairing mode \(/,
      );
      expect([bonded.bonds(), bonded.security.bonded]).toEqual([undefined, false]);

      await bonded.openJoining(person);
      expect(await bonded.connect()).toEqual(value);
      const kept = bonded.bonds();
      expect(kept?.mode).toBe(0o600);
      expect(kept?.bonds).toMatchObject([{ address, byNumber, secureConnections: !legacy }]);
      expect(bonded.rig.host.joins).toMatchObject([
        { state: "started", address },
        { state: "bonded", address },
      ]);
      expect(compared.length).toBe(!legacy && capability === "displayYesNo" ? 1 : 0);

      await bonded.closeJoining();
      await bonded.restart();
      expect(await bonded.connect()).toEqual(value);
      expect([bonded.security.pairings, bonded.security.level]).toEqual([1, "no"]);
    });
  }
}

const misbehaviours: readonly [
  what: string,
  security: SimulatedSecurityOptions,
  said: RegExp,
  told?: number,
][] = [
  ["legacy: a wrong confirm value", { legacy: true, fault: "wrongConfirm" }, /its proof is wrong/, 4],
  ["a wrong confirm value", { fault: "wrongConfirm" }, /its proof is wrong/, 4],
  ["legacy: our confirm value sent back", { legacy: true, fault: "proofSentBack" }, /our own proof back/, 4],
  ["a wrong check", { fault: "wrongCheck" }, /its check of the keys is wrong/, 11],
  ["a public key beside the curve", { fault: "keyBesideCurve" }, /no point of the curve/, 10],
  ["our public key sent back", { fault: "keySentBack" }, /our own public key back/, 10],
  ["keys before encryption", { legacy: true, fault: "keysInClear" }, /keys in the clear/, 8],
  ["a short key", { key_bytes_max: 7 }, /keys of 7 bytes, and 16 are safe\): it cannot be used/, 6],
  ["no bonding", { bonding: false }, /does not keep keys/, 3],
];

for (const [what, security, said, told] of misbehaviours) {
  test(`${what}: the pairing is refused, and nothing is stored`, async () => {
    await using bonded = await startBonded({ security });
    await bonded.openJoining();
    expect(await bonded.connect()).toMatch(said);
    await bonded.rig.host.until("the refusal", () => bonded.security.refusals.includes(told as number));
    expect(bonded.bonds()).toBeUndefined();
    expect(bonded.rig.host.joins.map(({ state }) => state)).toEqual(["started", "failed"]);
  });
}

test("digits that are not the same at both ends are refused, and pairing ends after three attempts", async () => {
  for (const legacy of [true, false]) {
    const { atDevice } = people();
    const security = { legacy, capability: "displayOnly" as const, ...(atDevice && { person: atDevice }) };
    await using bonded = await startBonded({ security, needs: "number" });
    await bonded.openJoining({ typesNumber: async () => "12" });
    expect(await bonded.connect()).toContain("nobody typed the six digits");
    // The device shows another number, but once in a million runs.
    await bonded.openJoining({ typesNumber: async () => "314159" });
    await bonded.failures(4);
    expect(await bonded.connect()).toContain("it speaks only to a paired gateway");
    expect(bonded.rig.host.joins.filter(({ state }) => state === "started")).toHaveLength(4);
    expect(bonded.bonds()).toBeUndefined();
  }
});

/** Every unit that a device sends in a pairing. */
const steps = {
  legacy: ["response", "confirm", "random", "longTermKey", "keyName", "identityKey", "identityAddress"],
  secure: ["response", "publicKey", "confirm", "random", "check", "identityKey", "identityAddress"],
} as const;

for (const [kind, ops] of Object.entries(steps)) {
  for (const instead of ["refuses", "leaves", "silent"] as const) {
    test(`${kind}: a device that ${instead} at any step is said so, leaves nothing behind, and is paired once it keeps to it`, async () => {
      // Silence takes as long as a device may be silent: at the ends and in between, and by day in between alone.
      for (const at of instead === "silent" ? (nightly ? [ops[0], ops[2], ops[6]] : [ops[2]]) : ops) {
        const security: SimulatedSecurityOptions = {
          legacy: kind === "legacy",
          identityKey: new Uint8Array(16).fill(9),
          fault: { at, instead } as SecurityFault,
        };
        await using bonded = await startBonded({ security });
        await bonded.openJoining();
        const [failed] = await bonded.failures(1);
        expect(failed?.reason).toMatch(
          { refuses: /the device refused/, leaves: /connection ended/, silent: /said nothing for 30 s/ }[
            instead
          ],
        );
        expect(bonded.bonds()).toBeUndefined();
        delete security.fault;
        await bonded.openJoining();
        expect(await bonded.recovers()).toEqual(value);
      }
    });
  }
}

test("a device that has lost its keys is not spoken with in the clear, and once it has paired anew it waits for a person", async () => {
  await using bonded = await startBonded({});
  await bonded.openJoining();
  expect(await bonded.connect()).toEqual(value);
  await bonded.closeJoining();
  const [first] = bonded.bonds()?.bonds ?? [];
  bonded.security.forget();
  expect(await bonded.connect()).toContain("it has forgotten its pairing with this gateway: run lintel pair");
  expect(bonded.bonds()?.bonds).toEqual([first]);
  await bonded.openJoining();
  expect(await bonded.connect()).toContain(
    "is known with another key): if it is that device, reset or replaced",
  );
  expect(bonded.bonds()?.bonds).toEqual([first]);
  await bonded.closeJoining();
  await bonded.restart();
  await bonded.rig.host.identities.settle(address, "accepted", "a technician");
  expect(await bonded.connect()).toEqual(value);
  expect(bonded.bonds()?.bonds).toHaveLength(1);
  expect(bonded.bonds()?.bonds[0].key).not.toBe(first.key);
  expect(bonded.security.pairings).toBe(2);
});

test("a gateway that lost its keys with the power pairs anew, while joining is open, once a person has accepted it", async () => {
  await using bonded = await startBonded({ security: { legacy: true } });
  await bonded.openJoining();
  expect(await bonded.connect()).toEqual(value);
  await Bun.file(`${bonded.rig.host.directory}/bonds.json`).delete();
  await bonded.restart();
  expect(await bonded.connect()).toContain("it speaks only to a paired gateway");
  await bonded.openJoining();
  expect(await bonded.connect()).toContain("is known with another key");
  await bonded.rig.host.identities.settle(address, "accepted", "a technician");
  expect(await bonded.connect()).toEqual(value);
});

test("a pretender that pairs without digits and claims the identity of a bonded device takes nothing from it", async () => {
  for (const legacy of [true, false]) {
    const identityKey = new Uint8Array(16).fill(5);
    await using bonded = await startBonded({ security: { identityKey } });
    await bonded.openJoining();
    await bonded.rig.host.until("the pairing", () => {
      bonded.device.advertise();
      return bonded.bonds();
    });
    expect(await bonded.connect()).toEqual(value);
    const [first] = bonded.bonds()?.bonds ?? [];
    const pretender = bonded.rig.controller.addPeripheral({
      address,
      addressType: "random",
      connectable: true,
      advertisement: bthome(0x40),
      security: { identityKey: new Uint8Array(16).fill(6), legacy },
    });
    await bonded.rig.host.until(
      "the refusal",
      () => bonded.rig.host.identities.conflictAt(address),
      () => {
        if (!pretender.connected) pretender.advertise();
      },
    );
    const failed = await bonded.rig.host.until("the failed step", () =>
      bonded.rig.host.joins.find((join) => join.state === "failed"),
    );
    expect(failed).toMatchObject({
      reason: `${address} is known with another key`,
      remedy: expect.stringContaining(`lintel items accept ${address}`),
    });
    expect(bonded.rig.host.identities.conflicts()).toMatchObject([
      {
        claimed: {
          key: { made: `paired without digits, ${legacy ? "legacy pairing" : "secure connections"}` },
        },
      },
    ]);
    expect(bonded.bonds()?.bonds).toEqual([first]);
    await bonded.closeJoining();
    // The known one is heard as before, and after a restart; the pretender is not.
    bonded.device.changeAddress();
    expect(await bonded.recovers()).toEqual(value);
    await bonded.restart();
    bonded.device.changeAddress();
    expect(await bonded.recovers()).toEqual(value);
    expect(bonded.security.pairings).toBe(1);
  }
});

test("what was paired by a number is never replaced by a pairing without one", async () => {
  const { person, atDevice } = people();
  const security = { capability: "displayOnly" as const, ...(atDevice && { person: atDevice }) };
  await using bonded = await startBonded({ security, needs: "number" });
  await bonded.openJoining(person);
  expect(await bonded.connect()).toEqual(value);
  const kept = bonded.bonds();
  bonded.security.forget();
  await bonded.openJoining();
  expect(await bonded.connect()).toContain("is known with another key");
  expect(bonded.bonds()?.bonds).toEqual(kept?.bonds);
});

test("a device with changing addresses is known by its lasting one once it is paired", async () => {
  await using bonded = await startBonded({ security: { identityKey: new Uint8Array(16).fill(5) } });
  await bonded.openJoining();
  await bonded.rig.host.until("the pairing", () => {
    bonded.device.advertise();
    return bonded.bonds();
  });
  expect(await bonded.connect()).toEqual(value);
  await bonded.closeJoining();
  for (let change = 0; change < 3; change += 1) {
    bonded.device.changeAddress();
    expect(await bonded.connect()).toEqual(value);
  }
  await bonded.restart();
  bonded.device.changeAddress();
  expect(await bonded.connect()).toEqual(value);
  expect([...new Set(bonded.heard)]).toEqual([address]);
  expect(bonded.security.pairings).toBe(1);
});

test("a device that asks to be made safe is paired while joining is open, and told no while it is not", async () => {
  await using bonded = await startBonded({ security: { asks: true } });
  expect(await bonded.connect()).toContain("it speaks only to a paired gateway");
  expect(bonded.security.refusals).toEqual([5]);
  await bonded.openJoining();
  expect(await bonded.connect()).toEqual(value);
  expect(bonded.security.pairings).toBe(1);
});

test("a file of keys that cannot be read is said, with the remedy", async () => {
  await using bonded = await startBonded({});
  await Bun.write(`${bonded.rig.host.directory}/bonds.json`, '{"bonds":[{');
  await expect(bonded.restart()).rejects.toThrow(
    /the keys of bonded devices in .*bonds.json cannot be read: restore/,
  );
});
