import { Type } from "@sinclair/typebox";
import { decodingBounds } from "../decoding-bounds.ts";
import { OperatorError } from "../errors.ts";
import type { Imported } from "../store/record-store.ts";
import type { UploadStore } from "../store/upload-store.ts";
import type { CentralClient } from "./upload/central.ts";

/** The document in which central answers the records of a home; an import says whether they fit. */
export const HomeRecordsBody = Type.Object({});

/**
 * Asks central for the records of this home and takes them in, unless they are those that were taken last. Answers what changed; undefined
 * where nothing was new.
 *
 * @param options.take checks the document and takes all of it in, or throws and has changed nothing
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function followHomeRecords(options: {
  readonly central: Pick<CentralClient, "ask" | "read" | "url">;
  readonly store: Pick<UploadStore, "uploadState" | "noteUpload">;
  readonly take: (document: object) => Promise<Imported>;
}): Promise<Imported | undefined> {
  const { central, store, take } = options;
  const { home_records } = await store.uploadState();
  const answer = await central.ask({
    method: "GET",
    path: "/roster",
    answer: decodingBounds.homeRecords,
    headers: home_records === undefined ? undefined : { "if-none-match": home_records },
    accept: [304],
  });
  const etag = answer.headers.get("etag");
  if (answer.status === 304 || (etag !== null && etag === home_records)) return undefined;
  if (etag === null)
    throw new OperatorError(
      `central at ${central.url.host} answers no home records (${answer.body.length} bytes without an entity tag)`,
      "check [upload] url, and what stands between this machine and central",
    );
  const imported = await take(central.read(answer, HomeRecordsBody));
  await store.noteUpload({ home_records: etag });
  return imported;
}
