/** Rooms that most homes have, to be tapped. */
export const usualRooms = [
  "Kitchen",
  "Bedroom",
  "Bathroom",
  "Living room",
  "Hall",
  "Entrance",
  "Office",
] as const;
