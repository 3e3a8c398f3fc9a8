import type { CentralStore } from "../../store/central-store.ts";
import { jsonAnswer } from "../answer.ts";
import { type ReportAnswer, ReportBody } from "../protocol.ts";
import { bodyReader, jsonForm } from "./checked-body.ts";
import type { HomeRoute } from "./home-route.ts";
import { requireOwn } from "./refusal.ts";

/** POST /report: keeps what a gateway says of itself, and answers how far its readings and notes are held. */
export function reportRoute(store: CentralStore, version: string): HomeRoute {
  const read = bodyReader(ReportBody, text_bytes_max);
  return {
    method: "POST",
    path: "/report",
    body: jsonForm(bytes_max),
    answer: async (call) => {
      const { exchange, home } = call;
      const { epochs, condition, report } = read(call);
      const names = epochs.map(({ epoch }) => epoch);
      await requireOwn(store, names, home);
      const at_ms = exchange.now_ms;
      // The last epoch is the one that the gateway numbers by now.
      await store.noteReport({ epoch: names.at(-1) ?? "", health: condition, report }, { home, at_ms });
      const held = await store.held(names);
      const answer: ReportAnswer = {
        home,
        now_ms: at_ms,
        version,
        epochs: held.map(({ epoch, held_seq, held_note }) => ({ epoch, held_seq, held_note })),
      };
      return jsonAnswer(exchange, answer);
    },
  };
}

const bytes_max = 2 * 1024 * 1024;
const text_bytes_max = 16 * 1024 * 1024;
