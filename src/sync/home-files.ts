import { decodingBounds } from "../decoding-bounds.ts";
import { type HttpClient, jsonBody } from "../http-client/http-client.ts";
import { bodyOfFiles, filesInBody, type HomeFiles } from "./kept-files.ts";
import { BackupsBody } from "./protocol.ts";

/** Has central keep files of this home by name, each in the place of the one before. */
export async function sendHomeFiles(central: HttpClient, files: HomeFiles): Promise<void> {
  if (files.size === 0) return;
  await central.ask({
    method: "PUT",
    path: "/backups",
    body: jsonBody(bodyOfFiles(files)),
    answer: decodingBounds.batchAnswer,
  });
}

/** The files that central keeps of this home, by name, and what time it is there: a spare box may not know that yet. */
export async function homeFilesAt(
  central: HttpClient,
): Promise<{ readonly files: Map<string, Uint8Array<ArrayBuffer>>; readonly now_ms: number | undefined }> {
  const answer = await central.ask({ method: "GET", path: "/backups", answer: decodingBounds.homeFiles });
  const now_ms = Date.parse(answer.headers.get("date") ?? "");
  return {
    files: filesInBody(central.read(answer, BackupsBody)),
    now_ms: Number.isNaN(now_ms) ? undefined : now_ms,
  };
}
