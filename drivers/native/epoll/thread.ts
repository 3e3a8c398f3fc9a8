import { type ReadyEvent, waitForOne } from "./libc.ts";

/** The epoll instance to wait for, and the cell that says that an event has been handled. */
export interface ToThread {
  readonly epoll: number;
  readonly handled: Int32Array;
}

export type FromThread = ReadyEvent | { readonly failure: string };

declare const self: Worker;

/**
 * The thread that waits, so that JavaScript doesn't have to: it blocks in the kernel for one event, hands it
 * over, and blocks until that has been handled. It is never told to end: the process takes it along.
 */
self.onmessage = ({ data: { epoll, handled } }: MessageEvent<ToThread>) => {
  try {
    for (;;) {
      const event = waitForOne(epoll);
      if (event === undefined) continue;
      Atomics.store(handled, 0, 0);
      self.postMessage(event satisfies FromThread);
      // The notice of the event before may come only now, and must not be taken for this one's.
      while (Atomics.load(handled, 0) === 0) Atomics.wait(handled, 0, 0);
    }
  } catch (thrown) {
    self.postMessage({
      failure: thrown instanceof Error ? thrown.message : String(thrown),
    } satisfies FromThread);
  }
};
