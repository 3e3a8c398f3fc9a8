import { type Box, until } from "./box.ts";
import { tokenIn } from "./gateway.ts";
import { bunPath, SimulatedStick } from "./stick.ts";
import { expect, step, type Trial } from "./trial.ts";

const home = 31;
const releases = "/var/lib/lintel-releases";
const atCentral = "/var/lib/lintel-central";
const boot = "/boot/firmware/lintel-home";
const stickPath = "/dev/serial/by-id/usb-Nabu_Casa_ZBT-2_10B41DE58D6C-if00";
/** Twice the minute after which a first boot tries again, and the start of a gateway. */
const first_boot_ms_max = 240_000;
const answer_ms_max = 60_000;

/** Tries what a field engineer found by hand on a box that has the package and is not set up yet, and at its central; `scripts/trials update` tries releases. */
export async function tryFound(trial: Trial): Promise<void> {
  const { box, central } = trial;
  await trial.stick.unplug();
  await step("before set-up, doctor and status say what to do, and nothing that harms", async () => {
    for (const user of ["", "sudo "]) {
      const { out, said } = await box.run(`${user}lintel doctor`);
      expect(!`${out}${said}`.includes("chown"), "no owner to be changed", `${out}${said}`);
    }
    const { code, out, said } = await box.run("sudo -u lintel lintel status");
    expect(code === 2 && said.includes("run sudo lintel setup"), "the next step", `${code}: ${out}${said}`);
    return said.trim();
  });
  await step("setup at a terminal asks for updates too, and writes nothing without a yes", async () => {
    const answers = [home, "Europe/London", "none", "none", "https://central.example/releases", "no"];
    const { out } = await box.run("script --quiet --command 'sudo lintel setup' /dev/null", {
      input: answers.map((answer) => `${answer}\n`).join(""),
      ms_max: answer_ms_max,
    });
    expect(out.includes("The address of your programme's releases"), "a question for updates", out);
    expect((await box.run("sudo test -e /etc/lintel/upload-token")).code === 1, "nothing written");
    return undefined;
  });
  await step("quotes of an editor for letters are named, with the line", async () => {
    await box.write("/root/curly.toml", "[home]\nid = 31\ntimezone = \u201cEurope/London\u201d\n");
    const { code, said } = await box.run("sudo lintel setup --file /root/curly.toml");
    expect(code === 2 && said.includes("line 3 has the curly quote"), "what to write instead", said);
    return said.trim();
  });
  const token = await centralChangesToTls(central);
  await step("a home that has a token and was never heard is in the list", async () => {
    const { expected_since_ms } = await fleetHome(central);
    expect(typeof expected_since_ms === "number", "since when it is waited for", `${expected_since_ms}`);
    return `since ${new Date(expected_since_ms).toISOString()}`;
  });
  const stick = new SimulatedStick(box, { path: stickPath, adapter: "ember" });
  await stick.plugIn();
  await firstBoot(trial, token);
  await step(
    "a stick that setup found by its name is opened with the rate and the flow control of its maker",
    async () => {
      const settings = await box.must(`stty -a -F ${stickPath}`, { as: "root" });
      expect(/speed 460800/.test(settings) && / crtscts/.test(settings), "460800 and RTS/CTS", settings);
      return settings.split(";")[0];
    },
  );
  await crashes(trial);
  await certificateChanges(trial);
  await step("a token of a home ends in a year, and each upload renews it", async () => {
    const before = await endOf(central);
    await box.must("sudo -u lintel lintel upload");
    const after = await until("the token lasts longer", answer_ms_max, async () => {
      const end_ms = await endOf(central);
      return end_ms > before ? end_ms : undefined;
    });
    const days = (after - Date.now()) / 86_400_000;
    expect(days > 364 && days < 366, "a year", `${days} days`);
    return `${days.toFixed(1)} days`;
  });
  await step(
    "a backup to a stick that is root's says which line makes a place there, and that line does",
    async () => {
      await box.must("install -d -o root -m 755 /media/roots", { as: "root" });
      const backup = "sudo -u lintel lintel backup /media/roots/lintel";
      const { code, said } = await box.run(backup);
      const line = /sudo install .*?(?= makes it)/.exec(said)?.[0] ?? "";
      expect(code === 2 && line !== "", "a remedy", said);
      await box.must(line);
      await box.must(backup);
      return line;
    },
  );
  await brokenUpdater(box);
  await stick.unplug();
}

/** Central gets a certificate of its own: the sync token of the home. */
async function centralChangesToTls(central: Box): Promise<string> {
  let token = "";
  await step("central makes its own certificate, and a token for a home", async () => {
    await central.write(
      "/etc/lintel/central.env",
      'LINTEL_CENTRAL_OPTIONS="--tls self-signed --tls-names localhost"\n',
    );
    await central.must("systemctl restart lintel-central", { as: "root" });
    token = tokenIn(await asCentral(central, `token create home-${home} --scope sync --home ${home}`));
    return undefined;
  });
  return token;
}

/** docs/first-boot.md, with a port that another program has. */
async function firstBoot({ box, central }: Trial, token: string): Promise<void> {
  const certificate = await central.must(`cat ${atCentral}/tls-certificate.pem`, { as: "root" });
  const program =
    "Bun.serve({ port: 8080, fetch: () => new Response() }); for await (const line of console); process.exit()";
  const other = box.start(`exec ${bunPath} --eval '${program}'`, { as: "root" });
  await step("a first boot whose port is taken is not done, and says why beside the file", async () => {
    await box.write(`${boot}.toml`, homeFile(token, certificate));
    const faults = await until("there are faults", first_boot_ms_max, async () => {
      const { out, code } = await box.run(`cat ${boot}.faults.txt`, { as: "root" });
      return code === 0 ? out : undefined;
    });
    expect(faults.includes("8080"), "the port", faults);
    expect(
      (await box.run(`test -e ${boot}.toml && ! test -e ${boot}.done.toml`, { as: "root" })).code === 0,
      "the file in its place",
    );
    return faults.trim();
  });
  void other.stdin.end();
  await other.exited;
  await step("once the port is free, the next try sets it up, and done means serving", async () => {
    await until("the file is done", first_boot_ms_max, async () => {
      return (await box.run(`test -e ${boot}.done.toml`, { as: "root" })).code === 0 || undefined;
    });
    const { running, drivers } = JSON.parse(await box.must("sudo -u lintel lintel status --json"));
    expect(running, "a gateway that serves");
    const left = await box.run(`ls ${boot}.faults.txt; grep ${token} ${boot}.done.toml`, { as: "root" });
    expect(left.out === "", "no faults and no token on the boot partition", left.out);
    return `${drivers[0].name} ${drivers[0].state}`;
  });
}

function homeFile(token: string, certificate: string): string {
  return `[home]
id = ${home}
timezone = "Europe/London"

[zigbee]

[upload]
url = "https://localhost:8090"

[update]
manifest = "http://localhost:8100/releases"

[setup]
upload_token = "${token}"
upload_certificate = """
${certificate}"""
`;
}

/** A gateway that ends by itself again and again. */
async function crashes({ box, central }: Trial): Promise<void> {
  await step("a gateway that ends again and again is a need at central", async () => {
    for (let kill = 0; kill < 3; kill += 1) {
      const pid = await box.property("lintel", "MainPID");
      await box.must(`kill -KILL ${pid}`, { as: "root" });
      await until("it serves again", answer_ms_max, async () => {
        const now = await box.property("lintel", "MainPID");
        return (
          (now !== "0" && now !== pid && (await box.property("lintel", "ActiveState")) === "active") ||
          undefined
        );
      });
    }
    await box.must("sudo -u lintel lintel upload");
    const { restarts, needs } = await fleetHome(central);
    const need = needs.find(({ type }: { type: string }) => type === "crash_loop");
    expect(
      restarts >= 3 && need !== undefined,
      "3 restarts at least, and the need",
      JSON.stringify({ restarts, needs }),
    );
    return need.message;
  });
}

/** docs/tls.md, "Renew central's certificate". */
async function certificateChanges({ box, central }: Trial): Promise<void> {
  await step("central's certificate is renewed, and the box uploads as before", async () => {
    const pem = `${atCentral}/tls-certificate.pem`;
    const before = await central.must(`cat ${pem}`, { as: "root" });
    await asCentral(central, "central certificate --change");
    await central.must("systemctl restart lintel-central", { as: "root" });
    expect((await central.must(`cat ${pem}`, { as: "root" })) !== before, "another certificate");
    return (await box.must("sudo -u lintel lintel upload")).trim().split("\n").at(-1);
  });
}

/** A confirmed release whose updater ends with 7. */
async function brokenUpdater(box: Box): Promise<void> {
  await step(
    "where the updater of the confirmed release is broken, that of the package stands in",
    async () => {
      const folder = `${releases}/0.3.0`;
      const broken = `sed -i '2i [ "$1" != update ] || exit 7' ${folder}/lintel`;
      await box.must(
        `mkdir -p ${releases} && cp -r /usr/lib/lintel ${folder} && ${broken} && for link in current confirmed; do ln -sfn ${folder} ${releases}/$link; done`,
        { as: "root" },
      );
      await box.must("systemctl restart lintel && systemctl start lintel-update", { as: "root" });
      // The trial's package is of no programme, which its updater says.
      const log = await until("both have run", answer_ms_max, async () => {
        const said = await box.journal("lintel-update");
        return said.includes("no root of a programme's repository") ? said : undefined;
      });
      expect(log.includes("/usr/lib/lintel stands in for it"), "the package's updater", log);
      return log.trim().split("\n").at(-1);
    },
  );
}

/** As the user of central, on its store. */
function asCentral(central: Box, words: string): Promise<string> {
  return central.must(`sudo -u lintel-central lintel ${words} --data ${atCentral}`);
}

// biome-ignore lint/suspicious/noExplicitAny: as JSON
async function fleetHome(central: Box): Promise<any> {
  const homes = JSON.parse(await asCentral(central, "fleet --all --json"));
  return homes.find(({ homeid }: { homeid: number }) => homeid === home);
}

/** When the sync token of the home ends, unix milliseconds. */
async function endOf(central: Box): Promise<number> {
  const tokens = JSON.parse(await asCentral(central, "token list --json"));
  return tokens.find(({ name }: { name: string }) => name === `home-${home}`).expires_ms;
}
