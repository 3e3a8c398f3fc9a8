/** By the number of a door of a pill box. The words of readings are made at the server alone: the table of series is much for a browser. */
export const weekdays = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
