/**
 * Whether the long half of the tests runs too (`./scripts/test --nightly`): more seeds, more kills, every store in every form, the store's
 * writer in its own thread everywhere, and commands from the source. A change is tested by the short half, which asks the same statements
 * of fewer drawn cases.
 */
export const nightly = process.env["LINTEL_TEST_NIGHTLY"] === "1";
