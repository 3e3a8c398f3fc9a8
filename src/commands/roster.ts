import { OperatorError } from "../errors.ts";
import { type Fault, ImportRefused } from "../import/fault.ts";
import { importDocument } from "../import/import.ts";
import type { Imported, RecordStore } from "../store/record-store.ts";

/**
 * Takes the roster of central into a gateway's store, after the checks of any import: all of it, or, where anything does not fit, nothing.
 *
 * @throws OperatorError that says in one line what does not fit
 */
export async function takeRoster(store: RecordStore, document: string): Promise<Imported> {
  try {
    return await importDocument({ name: "roster", text: document, store, dryRun: false });
  } catch (thrown) {
    if (!(thrown instanceof ImportRefused)) throw thrown;
    const [first] = thrown.faults;
    const more = thrown.count > 1 ? `, and ${thrown.count - 1} more` : "";
    throw new OperatorError(
      `central's records of this home do not fit what this gateway holds (${first === undefined ? "no fault is named" : faultInWords(first)}${more}): none of them was taken in`,
      "correct the record at central with lintel import there, or the one that it clashes with here",
    );
  }
}

function faultInWords({ record, field, given, expected }: Fault): string {
  const what = [record, field].filter((word) => word !== undefined).join(" ");
  const said = given === undefined ? expected : `${given} is given, ${expected} expected`;
  return what === "" ? said : `${what}: ${said}`;
}
