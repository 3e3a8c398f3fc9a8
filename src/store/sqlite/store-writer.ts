import type { Given, WriteName, Written } from "../core/writes.ts";
import type { Writing } from "./write.ts";
import type { WriterCalls } from "./writer-protocol.ts";

/** The one that writes for a store: the writer's thread, or a connection of this thread. */
export interface StoreWriter {
  write<Name extends WriteName>(name: Name, ...given: Given<Name>): Promise<Written<Name>>;
  ask<Call extends ImportCall>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>>;
  close(): Promise<void>;
}

type ImportCall = "stageRecords" | "finishImport" | "abandonImport";

/** A writer on a connection of this thread, which waits for the disk: right for a command that does one thing. */
export class OwnWriter implements StoreWriter {
  readonly #writing: Writing;

  constructor(writing: Writing) {
    this.#writing = writing;
  }

  async write<Name extends WriteName>(name: Name, ...given: Given<Name>): Promise<Written<Name>> {
    return this.#writing.write(name, ...given);
  }

  async ask<Call extends ImportCall>(
    call: Call,
    ...given: Parameters<WriterCalls[Call]>
  ): Promise<ReturnType<WriterCalls[Call]>> {
    return Reflect.apply(this.#writing[call], this.#writing, given);
  }

  async close(): Promise<void> {
    this.#writing.close();
  }
}
