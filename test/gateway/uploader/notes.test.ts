import { expect, test } from "bun:test";
import type { Note } from "../../../src/domain/records/programme-records.ts";
import { addNote } from "../../../src/store/note-requests.ts";
import type { Store } from "../../../src/store/store.ts";
import { item } from "../../../testbed/sample.ts";
import { Programme } from "./programme.ts";

const given: Omit<Note, "noteid"> = {
  homeid: 1,
  itemid: null,
  subjectid: null,
  kind: "visitor",
  start: 1_700_000_000,
  stop: null,
  words: "Her daughter",
  source: "home",
  said: 1_700_000_100,
};

const notesOf = (store: Pick<Store, "recordsOf">, home = 1) => store.recordsOf("notes", home);

async function programme() {
  const made = new Programme();
  const central = await made.start();
  await central.importRecords([
    [
      { type: "homes", record: { homeid: 1, timezone: "UTC" } },
      { type: "homes", record: { homeid: 2, timezone: "UTC" } },
      { type: "items", record: item(7, { currenthomeid: 2 }) },
    ],
  ]);
  return Object.assign(made, { central, box1: await made.box(1) });
}

test("a note of the home reaches central with the upload, once, and a correction or removal after it", async () => {
  await using made = await programme();
  const { central, box1 } = made;
  const note = await addNote(box1.gateway, given);
  await box1.upload();
  expect(await notesOf(central)).toEqual([note]);
  await box1.upload();
  expect([await notesOf(central), await notesOf(box1.gateway)]).toEqual([[note], [note]]);
  const longer = { ...note, stop: note.start + 3600 };
  await box1.gateway.changeNotes(1, { kept: [longer], removed: [] });
  await box1.upload();
  expect([await notesOf(central), await notesOf(box1.gateway)]).toEqual([[longer], [longer]]);
  await box1.gateway.changeNotes(1, { kept: [], removed: [note.noteid] });
  await box1.upload();
  expect([await notesOf(central), await notesOf(box1.gateway)]).toEqual([[], []]);
});

test("a note of central reaches the box, which cannot change it; central's word on a note of the home holds at both", async () => {
  await using made = await programme();
  const { central, box1 } = made;
  const theirs = await addNote(central, { ...given, kind: "hospital", source: "coordinator" });
  const own = await addNote(box1.gateway, given);
  await box1.upload();
  expect(await notesOf(box1.gateway)).toEqual(await notesOf(central));
  expect(await notesOf(central)).toHaveLength(2);
  await box1.gateway.changeNotes(1, { kept: [{ ...theirs, kind: "other" }], removed: [] });
  await box1.upload();
  const corrected = { ...own, kind: "away", source: "coordinator" } as const;
  await central.changeNotes(1, { kept: [corrected], removed: [] });
  await box1.upload();
  expect(await notesOf(central)).toContainEqual(theirs);
  expect(await notesOf(central)).toContainEqual(corrected);
  expect(await notesOf(box1.gateway)).toEqual(await notesOf(central));
  await box1.gateway.changeNotes(1, { kept: [], removed: [theirs.noteid] });
  await box1.upload();
  expect(await notesOf(box1.gateway)).toContainEqual(theirs);
  await central.changeNotes(1, { kept: [], removed: [theirs.noteid, own.noteid] });
  await box1.upload();
  expect(await notesOf(box1.gateway)).toEqual([]);
});

test("what is said between the two halves of an upload is told by the next one", async () => {
  await using made = await programme();
  const { central, box1 } = made;
  const [first, second] = [await addNote(box1.gateway, given), await addNote(box1.gateway, given)];
  let said: Promise<Note> | undefined;
  // Central tells its time with the answer to the first report, before the box asks for its records.
  await box1.upload({
    onCentralTime: () => {
      said ??= box1.gateway
        .changeNotes(1, { kept: [{ ...second, kind: "other" }], removed: [first.noteid] })
        .then(() => addNote(box1.gateway, { ...given, kind: "furniture" }));
    },
  });
  const added = await said;
  await box1.upload();
  expect((await notesOf(central)).map(({ kind }) => kind).toSorted()).toEqual(["furniture", "other"]);
  expect(await notesOf(box1.gateway)).toEqual(await notesOf(central));
  expect((await notesOf(central)).map(({ noteid }) => noteid)).toContain(added?.noteid ?? 0);
});

test("no box names an item or a home that is not its own, nor a time that was erased", async () => {
  await using made = await programme();
  const { central, box1 } = made;
  const other = await addNote(central, { ...given, homeid: 2 });
  await box1.gateway.changeNotes(1, {
    kept: [{ ...given, noteid: other.noteid, homeid: 2, itemid: 7, subjectid: 9 }],
    removed: [],
  });
  await box1.upload();
  expect(await notesOf(central, 2)).toEqual([other]);
  expect(await notesOf(central)).toMatchObject([{ homeid: 1, itemid: null, subjectid: null }]);
  await central.erase({ target: { home: 1 }, id: "ab".repeat(16), at_ms: (given.start + 60) * 1000 });
  const again = await addNote(box1.gateway, given);
  await box1.upload();
  expect(await notesOf(central)).toEqual([]);
  expect((await notesOf(box1.gateway)).map(({ noteid }) => noteid)).not.toContain(again.noteid);
});
