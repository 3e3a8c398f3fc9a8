import { valueInFile } from "./home-file.ts";
import { type MeshScan, MeshScans } from "./mesh.ts";

/** The name of the file of scans, in a data directory and at central. */
export const meshFile = "mesh.json";

/** The scans of a file that a gateway sent, newest first: none where it is of another form. */
export function scansInFile(content: Uint8Array | undefined): readonly MeshScan[] {
  return valueInFile(MeshScans, content)?.scans ?? [];
}
