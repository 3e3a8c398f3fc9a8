import type { StoreWriter } from "../core/store.ts";
import type { WriteArguments, WriteName, Written } from "../core/writes.ts";
import type { ErasurePlan, TakenSpan } from "../erasure.ts";
import type { Imported, RecordStore } from "../record-store.ts";
import type { ErasureRequest } from "../store.ts";
import type { StoreWriting } from "./write.ts";
import type { WriterCalls } from "./writer-protocol.ts";

/** Writes of a store, by whoever answers its calls. */
export abstract class SqliteWriter implements StoreWriter {
  abstract ask<Call extends keyof WriterCalls>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>>;

  abstract close(): Promise<void>;

  write<Name extends WriteName>(name: Name, ...given: WriteArguments<Name>): Promise<Written<Name>> {
    return this.ask("write", name, ...given) as Promise<Written<Name>>;
  }

  erase(request: ErasureRequest): Promise<ErasurePlan | undefined> {
    return this.ask("erase", request);
  }

  takeErasures(spans: readonly TakenSpan[]): Promise<number> {
    return this.ask("takeErasures", spans);
  }

  async importRecords(
    ...[batches, { dryRun = () => false } = {}]: Parameters<RecordStore["importRecords"]>
  ): Promise<Imported> {
    try {
      for await (const batch of batches) await this.ask("stageRecords", batch);
      return await this.ask("finishImport", { dryRun: dryRun() });
    } catch (thrown) {
      await this.ask("abandonImport");
      throw thrown;
    }
  }
}

/** A writer on a connection of this thread, which waits for the disk: right for a command that does one thing. */
export class OwnWriter extends SqliteWriter {
  readonly #writing: StoreWriting;

  constructor(writing: StoreWriting) {
    super();
    this.#writing = writing;
  }

  async ask<Call extends keyof WriterCalls>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>> {
    return Reflect.apply(this.#writing[call as keyof StoreWriting], this.#writing, given) as ReturnType<
      WriterCalls[Call]
    >;
  }

  async close(): Promise<void> {
    this.#writing.close();
  }
}
