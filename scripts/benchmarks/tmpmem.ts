import { lintelMonth } from "./memory/lintel.ts";

const s = await lintelMonth({ days: 4, rate: 600, all: true });
s.print();
