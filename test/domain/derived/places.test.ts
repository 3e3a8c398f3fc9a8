import { expect, test } from "bun:test";
import { placeOf } from "../../../src/domain/derived/places.ts";

/** An item's name, what its home has given it, and where it is then, and what it watches. */
test.each<[itemname: string, given: Parameters<typeof placeOf>[1], room: string | null, role: string | null]>(
  [
    ["kitchen-wall", undefined, "kitchen", null],
    ["Küche_1", undefined, "kitchen", null],
    ["wall.wc", undefined, "bathroom", null],
    ["sensor-3", undefined, null, null],
    // Without a room of the home's, the item's name says it, and never the name that the home has given.
    ["sensor-3", { name: "Kitchen" }, null, null],
    ["kitchen-wall", { name: "By the bed" }, "kitchen", "bed"],
    // A room that the home has given is that of its word, and else the home's own word, whatever the item is called.
    ["kitchen-wall", { room: "Schlafzimmer" }, "bedroom", null],
    ["kitchen-wall", { room: "Oma's corner" }, "Oma's corner", null],
    ["sensor-3", { room: "Oma's corner" }, "Oma's corner", null],
    // A role is of the name first, then of the item, and never of the room.
    ["front-door", undefined, null, "front door"],
    ["front-door", { name: "Fridge" }, null, "fridge"],
    ["front-door", { name: "Grey box", room: "Hall" }, "hall", "front door"],
    ["sensor-3", { name: "Pills", room: "Front door" }, "Front door", "medicine"],
    ["bed-sensor", undefined, null, "bed"],
    ["bedroom-wall", undefined, "bedroom", null],
  ],
)("%s, given %j, is in %p and watches %p", (itemname, given, room, role) => {
  expect(placeOf(itemname, given)).toEqual({ room, role: role as never });
});
