import { expect, test } from "bun:test";
import { type Bond, Bonds, bonds_max } from "../../../drivers/ble/security/bonds.ts";
import { SimulatedSecurity } from "../../../drivers/ble/simulator/security.ts";
import { temporaryDirectory } from "../../../testbed/sample.ts";

const keyOf = (number: number) => new Uint8Array(16).fill(number);
const addressOf = (number: number) => `c0:00:00:00:00:${number.toString(16).padStart(2, "0")}`;
/** Of the device of a number, which has an identity key where its addresses change. */
const bondOf = (number: number, { changes = true, key = number } = {}): Bond => ({
  ...{ address: addressOf(number), kind: "scales", addressType: "random" },
  ...{ key: keyOf(key).toHex(), diversifier: number, random: "00".repeat(8) },
  ...(changes ? { identityKey: keyOf(key).toHex() } : {}),
  ...{ byNumber: false, secureConnections: true },
});
const changing = (key: number) => SimulatedSecurity.changingAddress(keyOf(key));

function bondsWith(...before: readonly Bond[]) {
  const directory = temporaryDirectory();
  const bonds = new Bonds(directory.path);
  for (const bond of before) bonds.keep(bond);
  return {
    bonds,
    again: () => new Bonds(directory.path),
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

test.each([
  ["nobody else is bonded", []],
  ["another is, whose address never changes", [bondOf(1, { changes: false })]],
  ["others are, whose addresses change too", [bondOf(1), bondOf(2)]],
])(
  "a device that was heard before it was bonded is known by the same address from then on, where %s",
  (_, others) => {
    using made = bondsWith(...others);
    const { bonds, again } = made;
    const address = changing(9);
    expect(bonds.speakingAs(address)).toBeUndefined();
    bonds.keep(bondOf(9));
    for (const known of [bonds, again()])
      for (const one of [address, address, changing(9)]) expect(known.speakingAs(one)).toEqual(bondOf(9));
    expect(bonds.speakingAs(changing(8))).toBeUndefined();
  },
);

test("a device that is bonded anew is known by its new key, and by its old one no more", () => {
  using made = bondsWith(bondOf(1), bondOf(9));
  const { bonds, again } = made;
  const [before, after] = [changing(9), changing(7)];
  expect([bonds.speakingAs(before)?.address, bonds.speakingAs(after)]).toEqual([addressOf(9), undefined]);
  const anew = bondOf(9, { key: 7 });
  bonds.keep(anew);
  for (const known of [bonds, again()]) {
    expect([known.speakingAs(before), known.speakingAs(after)]).toEqual([undefined, anew]);
    expect([known.of(addressOf(9)), known.of(addressOf(1))]).toEqual([anew, bondOf(1)]);
  }
});

test("a claim changes nothing until a person accepts it, and then that of its device alone", () => {
  using made = bondsWith(bondOf(1), bondOf(2));
  const { bonds, again } = made;
  const claims = [bondOf(1, { key: 3 }), bondOf(2, { key: 4 })];
  for (const claim of claims) bonds.putAside(claim);
  for (const known of [bonds, again()]) {
    known.settle(() => false);
    expect([1, 2].map((number) => known.of(addressOf(number)))).toEqual([bondOf(1), bondOf(2)]);
  }
  const heard = changing(4);
  expect(bonds.speakingAs(heard)).toBeUndefined();
  bonds.settle(({ address }) => address === addressOf(2));
  for (const known of [bonds, again()]) {
    expect([1, 2].map((number) => known.of(addressOf(number)))).toEqual([bondOf(1), claims[1]]);
    expect(known.speakingAs(heard)).toEqual(claims[1]);
  }
  again().settle(() => true);
  expect([1, 2].map((number) => again().of(addressOf(number)))).toEqual(claims);
});

test("as many devices are bonded as may be, and each of them may be bonded anew", () => {
  using made = bondsWith(
    ...Array.from({ length: bonds_max - 1 }, (_, number) => bondOf(number, { changes: false })),
  );
  const { bonds } = made;
  expect([bonds.hasRoomFor(addressOf(0)), bonds.hasRoomFor(addressOf(200))]).toEqual([true, true]);
  bonds.keep(bondOf(200));
  expect([bonds.hasRoomFor(addressOf(0)), bonds.hasRoomFor(addressOf(201))]).toEqual([true, false]);
});
