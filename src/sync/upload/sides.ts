import { readingsIn } from "../../batch.ts";
import { OperatorError } from "../../errors.ts";
import type { UploadStore } from "../../store/upload-store.ts";
import { encodeBatch } from "../batch-codec.ts";
import type { Sides } from "../compare/compare.ts";
import { dayQueryOf } from "../day-query.ts";
import { batchType, MendAnswer, VerifyAnswer } from "../protocol.ts";
import type { Central } from "./central.ts";

/** This store and central, where the gateway asks. */
export function sidesOf(store: UploadStore, central: Central): Sides {
  return {
    checkTime: () => central.checkTime(),
    digests: (request) => store.digests(request),
    differing: async (request, digests) => {
      const body = { ...request, digests };
      const answer = await central.askJson({ method: "POST", path: "/verify" }, VerifyAnswer, body);
      return answer.differing;
    },
    mend: async (request) => {
      const batch = await store.readingsOfDay(request);
      const bytes = encodeBatch(batch);
      if (bytes === null)
        throw new OperatorError(
          `the ${request.series} of ${request.kind} ${request.address} on one day are too large to be sent`,
          "this is a fault of the program: please report it",
        );
      const answer = await central.ask({
        method: "PUT",
        path: "/days",
        query: dayQueryOf(request),
        body: { bytes, type: batchType },
      });
      return { ...central.read(answer, MendAnswer), readings: readingsIn(batch), to_seq: batch.to_seq };
    },
  };
}
