/**
 * The writer's thread. A synchronisation takes 10 to 500 ms on an SD card; here it delays nothing but the
 * next commit, and never the event loop that stamps readings. It does one request at a time, in order.
 */
import { ServerWriting, type WriterRequest } from "./writer-calls.ts";

declare const self: Worker;

const writing = new ServerWriting();

self.onmessage = ({ data }: MessageEvent<WriterRequest>) => {
  self.postMessage(writing.answer(data));
};
