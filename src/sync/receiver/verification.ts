import { day_ms } from "../../day.ts";
import { HttpError } from "../../http/errors.ts";
import type { CentralStore } from "../../store/central-store.ts";
import { jsonAnswer } from "../answer.ts";
import { decodeReadings } from "../batch-codec.ts";
import { dayReadingsOf } from "../day-query.ts";
import { DayQuery, type RepairAnswer, type VerifyAnswer, VerifyBody, verify_days_max } from "../protocol.ts";
import { readQuery } from "../query.ts";
import { differing } from "../transfer/differing.ts";
import { batchForm, readBatch } from "./batches.ts";
import { bodyReader, jsonForm } from "./checked-body.ts";
import type { HomeRoute } from "./home-route.ts";
import type { Receptions } from "./receptions.ts";
import { refusalOf, requireOwn } from "./refusal.ts";

/** POST /verify: the days of a gateway that differ from the readings held here. */
export function verifyRoute(store: CentralStore): HomeRoute {
  const read = bodyReader(VerifyBody, text_bytes_max);
  return {
    method: "POST",
    path: "/verify",
    body: jsonForm(bytes_max),
    answer: async (call) => {
      const { digests, ...request } = read(call);
      const { from_ms, before_ms } = request;
      const days = (before_ms - from_ms) / day_ms;
      if (from_ms % day_ms !== 0 || !Number.isInteger(days) || days < 1 || days > verify_days_max)
        throw new HttpError("body_unsuitable", {
          fault: `from_ms and before_ms must be 1 to ${verify_days_max} whole days apart, UTC`,
        });
      await requireOwn(store, [request.epoch], call.home);
      const answer: VerifyAnswer = { differing: differing(digests, await store.digests(request)) };
      return jsonAnswer(call.exchange, answer);
    },
  };
}

/** PUT /days: what a gateway holds of one series of one device on one day, added and put right. */
export function daysRoute(store: CentralStore, counts: Receptions): HomeRoute {
  return {
    method: "PUT",
    path: "/days",
    body: batchForm,
    answer: async ({ exchange, home, body }) => {
      const request = dayReadingsOf(readQuery(DayQuery, exchange.query));
      await requireOwn(store, [request.epoch], home);
      const batch = readBatch(body, decodeReadings);
      if (batch.epoch !== request.epoch)
        throw new HttpError("body_unsuitable", { fault: "the batch is of another epoch than the query" });
      try {
        const { added, corrected, kept } = await store.repairDay(request, batch, {
          home,
          at_ms: exchange.now_ms,
        });
        counts.repaired += added + corrected;
        const answer: RepairAnswer = { added, corrected, kept };
        return jsonAnswer(exchange, answer);
      } catch (thrown) {
        throw refusalOf(thrown, request.epoch);
      }
    },
  };
}

const bytes_max = 4 * 1024 * 1024;
const text_bytes_max = 32 * 1024 * 1024;
