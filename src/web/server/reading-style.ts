import colours from "./colours.css" with { type: "text" };
import reading from "./reading.css" with { type: "text" };

/** The style of pages that are read like a book: the interface, and the documents. */
export const readingStyle = `${colours}${reading}`;
