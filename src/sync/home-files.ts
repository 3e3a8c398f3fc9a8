import { jsonBody, type Peer } from "./line/peer.ts";
import { BackupsBody } from "./protocol.ts";

/** Has central keep files of this home by name, each in the place of the one before. */
export async function sendHomeFiles(central: Peer, files: ReadonlyMap<string, Uint8Array>): Promise<void> {
  if (files.size === 0) return;
  const texts = [...files].map(([name, content]) => [name, content.toBase64()]);
  const body: BackupsBody = { files: Object.fromEntries(texts) };
  await central.ask({ method: "PUT", path: "/backups", body: jsonBody(body) });
}

/** The files that central keeps of this home, by name, and what time it is there: a spare box may not know that yet. */
export async function homeFilesAt(
  central: Peer,
): Promise<{ readonly files: Map<string, Uint8Array<ArrayBuffer>>; readonly now_ms: number | undefined }> {
  const answer = await central.ask({ method: "GET", path: "/backups" });
  const { files } = central.read(answer, BackupsBody);
  const now_ms = Date.parse(answer.headers.get("date") ?? "");
  return {
    files: new Map(Object.entries(files).map(([name, content]) => [name, Uint8Array.fromBase64(content)])),
    now_ms: Number.isNaN(now_ms) ? undefined : now_ms,
  };
}
