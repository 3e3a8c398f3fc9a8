import { SerialPort } from "serialport";

// The other process of holder.test.ts: opens the port that it is given, says so, and keeps it.
const [path = ""] = process.argv.slice(2);
const port = new SerialPort({ path, baudRate: 115200 }, (error) => console.log(error?.message ?? "open"));
port.resume();
