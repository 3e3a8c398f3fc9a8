import { HttpError } from "../../http/errors.ts";
import { backup_bytes_max, backups_max, type CentralStore } from "../../store/central-store.ts";
import { emptyAnswer, jsonAnswer } from "../answer.ts";
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
      const files = Object.entries(read(call).files).map(
        ([name, text]) => [name, contentOf(name, text)] as const,
      );
      const names = new Set([...(await store.backups(call.home)).keys(), ...files.map(([name]) => name)]);
      if (names.size > backups_max)
        throw new HttpError("body_unsuitable", { fault: `a home keeps ${backups_max} files at most` });
      for (const [name, content] of files) await store.putBackup(call.home, name, content);
      return emptyAnswer();
    },
  };
}

/** GET /backups: all of them. */
export function backupsRoute(store: CentralStore): HomeRoute {
  return {
    method: "GET",
    path: "/backups",
    answer: async ({ exchange, home }) => {
      const files = [...(await store.backups(home))].map(([name, content]) => [name, content.toBase64()]);
      return jsonAnswer(exchange, { files: Object.fromEntries(files) } satisfies BackupsBody);
    },
  };
}

function contentOf(name: string, text: string): Uint8Array<ArrayBuffer> {
  let content: Uint8Array<ArrayBuffer>;
  try {
    content = Uint8Array.fromBase64(text);
  } catch {
    throw new HttpError("body_unsuitable", { fault: `${name} is not base64` });
  }
  if (content.length > backup_bytes_max)
    throw new HttpError("body_unsuitable", { fault: `${name} has more than ${backup_bytes_max} bytes` });
  return content;
}

const bytes_max = 8 * 1024 * 1024;
const text_bytes_max = 32 * 1024 * 1024;
