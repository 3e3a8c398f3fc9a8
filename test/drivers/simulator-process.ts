import { join } from "node:path";

/** The simulator of a driver as a process of its own, which answers a line for each line. */
export function simulatorProcess(driver: string, ...options: string[]) {
  const program = join(import.meta.dir, "../../drivers", driver, "simulator/main.ts");
  const child = Bun.spawn([process.execPath, program, ...options], { stdin: "pipe", stderr: "inherit" });
  const answers = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  const answer = async () => {
    while (!text.includes("\n")) {
      const { value, done } = await answers.read();
      if (done) throw new Error("the simulator ended");
      text += value;
    }
    const end = text.indexOf("\n");
    const line = JSON.parse(text.slice(0, end));
    text = text.slice(end + 1);
    return line;
  };
  const tell = (command: object) => {
    child.stdin.write(`${JSON.stringify(command)}\n`);
    child.stdin.flush();
    return answer();
  };
  return { child, answer, tell };
}
