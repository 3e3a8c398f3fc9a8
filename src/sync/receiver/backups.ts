import { HttpError } from "../../http/errors.ts";
import type { CentralStore } from "../../store/central-store.ts";
import { emptyAnswer, jsonAnswer } from "../answer.ts";
import { bodyOfFiles, FilesFault, filesInBody, keepFiles } from "../kept-files.ts";
import { BackupsBody } from "../protocol.ts";
import { bodyReader, jsonForm } from "./checked-body.ts";
import type { HomeRoute } from "./home-route.ts";

/** PUT /backups: keeps files of a home, each in the place of the one of its name before. */
export function keepBackupsRoute(store: CentralStore): HomeRoute {
  const read = bodyReader(BackupsBody, text_bytes_max);
  return {
    method: "PUT",
    path: "/backups",
    body: jsonForm(bytes_max),
    answer: async (call) => {
      const body = read(call);
      try {
        await keepFiles(store, call.home, filesInBody(body));
      } catch (thrown) {
        if (thrown instanceof FilesFault) throw new HttpError("body_unsuitable", { fault: thrown.message });
        throw thrown;
      }
      return emptyAnswer();
    },
  };
}

/** GET /backups: all of them. */
export function backupsRoute(store: CentralStore): HomeRoute {
  return {
    method: "GET",
    path: "/backups",
    answer: async ({ exchange, home }) => jsonAnswer(exchange, bodyOfFiles(await store.backups(home))),
  };
}

const bytes_max = 8 * 1024 * 1024;
const text_bytes_max = 32 * 1024 * 1024;
