import type { Page } from "playwright-core";
import type { SimulatorProcess } from "../../../testbed/simulator-process.ts";

/** A sensor of the home: its address on the air, what it is, its room, and the name that it gets. */
export interface Sensor {
  readonly ieee: string;
  readonly model: string;
  readonly room: string;
  readonly name: string;
}

const opened = 0x31;
const present = 0x32;
const neither = 0x30;

/** A technician with a phone, in a home whose sensors answer as they are told to. */
export class Technician {
  constructor(
    readonly page: Page,
    readonly origin: string,
    readonly stick: SimulatorProcess,
  ) {}

  async open(step: string): Promise<void> {
    await this.page.goto(`${this.origin}/walk?step=${step}`);
    await this.page.waitForSelector(".walk h1");
  }

  title(words: RegExp): Promise<void> {
    return this.page.locator("h1", { hasText: words }).waitFor();
  }

  /** Lets sensors in one by one, and names each by its room. */
  async install(wanted: readonly Omit<Sensor, "ieee">[]): Promise<Sensor[]> {
    const sensors: Sensor[] = [];
    await this.open("find");
    await this.page.getByRole("button", { name: "Let devices in" }).click();
    await this.page.getByRole("button", { name: "Stop letting devices in" }).waitFor();
    for (const one of wanted) {
      const { ieee } = (await this.stick.tell({ do: "add", model: one.model })) as { ieee: string };
      await this.stick.tell({ do: "join", ieee });
      sensors.push({ ...one, ieee });
      await this.title(new RegExp(`^${sensors.length} devices? found`));
    }
    await this.page.getByRole("button", { name: "Stop letting devices in" }).click();
    for (const { room } of sensors) {
      await this.open("name");
      await this.title(/^Where is this/);
      await this.page.getByRole("radio", { name: room, exact: true }).check();
      await this.page.getByRole("button", { name: "Save" }).click();
      await this.title(/^(Where is|Everything has a name)/);
    }
    return sensors;
  }

  /** Measures the line of some curtain sensors, three quarters of a metre from each to the next. */
  async measure(line: readonly Sensor[]): Promise<void> {
    await this.open("line");
    for (const [place, { name }] of line.entries())
      await this.page.getByLabel(name, { exact: true }).fill(String(place * 0.75));
    await this.page.getByRole("button", { name: "Save the distances" }).click();
    await this.title(/^The line is measured/);
  }

  /** Taps "Try" of a device or a walk, and does something. */
  async try(name: string, act: () => Promise<void>): Promise<void> {
    await this.page.getByRole("button", { name: new RegExp(`^Try( again)?: ${name}$`) }).click();
    await this.page.locator("h1", { hasText: `${name}: ` }).waitFor();
    await act();
  }

  /** Waits until the task that was tried last is ticked off. */
  ticked(name: string): Promise<void> {
    return this.page.locator("h1", { hasNotText: `${name}: ` }).waitFor();
  }

  pass({ ieee }: Sensor): Promise<void> {
    return this.say(ieee, present, neither);
  }

  openAndClose({ ieee }: Sensor): Promise<void> {
    return this.say(ieee, opened, neither);
  }

  leaveOpen({ ieee }: Sensor): Promise<void> {
    return this.say(ieee, opened);
  }

  live({ ieee }: Sensor): Promise<void> {
    return this.say(ieee, neither);
  }

  private async say(ieee: string, ...statuses: number[]): Promise<void> {
    for (const status of statuses) await this.stick.tell({ do: "notify", ieee, status });
  }

  /** Signs what is there. */
  async finish(): Promise<void> {
    await this.open("finish");
    await this.page.getByLabel("Your name").fill("Ann Lee");
    await this.page.getByRole("button", { name: "Finish" }).click();
    await this.title(/^Record \d+ is signed/);
  }
}
