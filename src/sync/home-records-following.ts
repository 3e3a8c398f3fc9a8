import { OperatorError } from "../errors.ts";
import type { Imported } from "../store/record-store.ts";
import type { UploadStore } from "../store/upload-store.ts";
import { homeRecords_bytes_max } from "./home-records.ts";
import type { Central } from "./upload/central.ts";

/**
 * Asks central for the records of this home and takes them in, unless they are those that were taken last. Answers what changed; undefined
 * where nothing was new.
 *
 * @param options.take checks the document and takes all of it in, or throws and has changed nothing
 * @throws OperatorError; TryAgainLater where central cannot be reached
 */
export async function followHomeRecords(options: {
  readonly central: Pick<Central, "ask" | "url">;
  readonly store: Pick<UploadStore, "uploadState" | "noteUpload">;
  readonly take: (document: string) => Promise<Imported>;
}): Promise<Imported | undefined> {
  const { central, store, take } = options;
  const { home_records } = await store.uploadState();
  const answer = await central.ask({
    method: "GET",
    path: "/roster",
    headers: home_records === undefined ? undefined : { "if-none-match": home_records },
    accept: [304],
  });
  const etag = answer.headers.get("etag");
  if (answer.status === 304 || (etag !== null && etag === home_records)) return undefined;
  if (answer.body.length > homeRecords_bytes_max || etag === null)
    throw new OperatorError(
      `central at ${central.url.host} answers no home records (${answer.body.length} bytes, ${etag === null ? "without" : "with"} an entity tag)`,
      "check [upload] url, and what stands between this machine and central",
    );
  const imported = await take(new TextDecoder().decode(answer.body));
  await store.noteUpload({ home_records: etag });
  return imported;
}
