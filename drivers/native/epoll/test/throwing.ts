import { Epoll } from "../index.ts";
import { Fifo } from "./fifo.ts";

// The other process of a test: the first event's callback throws, the second is heard all the same.
const fifo = new Fifo();
process.on("uncaughtException", (error) => console.log(`caught ${error.message}`));
let turn = 0;
const epoll = new Epoll(() => {
  fifo.read();
  if (++turn === 1) throw new Error("first");
  console.log("heard second");
  epoll.close();
  fifo.close();
});
epoll.add(fifo.reader, Epoll.EPOLLIN);
fifo.write("ab");
