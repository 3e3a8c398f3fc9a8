import { expect, test } from "bun:test";
import { SystemClock } from "../../src/clock.ts";
import { openUploadStore } from "../../src/store/sqlite/open.ts";
import { gatherHomeFiles, putHomeFiles } from "../../src/uploader/home-files.ts";
import { keptLog, start_ms, temporaryDirectory } from "../store/sample.ts";

test("a spare box listens to the devices that the lost one had admitted", async () => {
  using lost = temporaryDirectory();
  using spare = temporaryDirectory();
  const admitted = [
    { address: "54:48:e6:8f:80:a5", admitted_ms: start_ms, reason: "hand" },
    { address: "c0:ff:ee:00:18:1d", admitted_ms: start_ms + 1, reason: "joining" },
  ] as const;
  await opened(lost.path, (store) => store.admit(admitted));
  await opened(spare.path, async () => {});
  putHomeFiles(spare.path, gatherHomeFiles(lost.path));
  expect(await opened(spare.path, (store) => store.admissions())).toEqual({ inventory: [], admitted });
});

/** Opens the store of a directory, made where it is missing, for as long as `use` takes. */
async function opened<Result>(
  directory: string,
  use: (store: Awaited<ReturnType<typeof openUploadStore>>) => Promise<Result>,
): Promise<Result> {
  const store = await openUploadStore({
    directory,
    clock: new SystemClock(),
    log: keptLog().log,
    create: true,
  });
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
