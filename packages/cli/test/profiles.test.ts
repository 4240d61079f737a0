import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFakeService } from "./harness/fake-service.js";
import { me } from "./harness/resources.js";
import { createRunner } from "./harness/run.js";

const secret = "bsk_a-secret-of-acme";

describe("profiles", () => {
  let service: Awaited<ReturnType<typeof startFakeService>>;
  let asked: string[];
  beforeAll(async () => {
    asked = [];
    service = await startFakeService({
      "GET /v1/me": { body: me },
      "POST /oauth/token": ({ body }) => {
        asked.push(body);
        return { body: { access_token: "t", token_type: "Bearer", expires_in: 900, scope: "" } };
      },
    });
  });
  afterAll(() => service.close());

  it("are stored for their owner only, with the secret from the environment or a hidden prompt", async () => {
    const cli = createRunner("http://127.0.0.1:1025");
    const add = (name: string) => ["profile", "add", name, service.url, `cli_${name}`];
    const first = await cli.run(add("acme"), { env: { BURSAR_CLIENT_SECRET: secret } });
    expect(first).toMatchObject({ code: 0, out: "", prompts: [] });
    expect(statSync(cli.config).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(cli.config)).mode & 0o777).toBe(0o700);
    const typed = await cli.run(add("typed"), { terminal: true, answers: ["bsk_typed"] });
    expect(typed.prompts).toEqual([{ prompt: "Secret of cli_typed: ", hidden: true }]);
    expect(JSON.parse(readFileSync(cli.config, "utf8"))).toMatchObject({
      default: "acme",
      profiles: { acme: { secret }, typed: { secret: "bsk_typed" } },
    });
    expect((await cli.run(["profile", "list"])).out).toBe(
      `acme\tyes\t${service.url}\tcli_acme\tsecret\ntyped\tno\t${service.url}\tcli_typed\tsecret\n`,
    );
    expect((await cli.run(["me"])).code).toBe(0);
    expect(asked.at(-1)).toContain(`client_secret=${secret}`);
    expect((await cli.run(["me", "--profile", "typed"])).code).toBe(0);
    expect(asked.at(-1)).toContain("client_secret=bsk_typed");
    expect((await cli.run(["profile", "use", "sandbox"])).code).toBe(0);
    expect((await cli.run(["me"])).code).toBe(5);
    expect((await cli.run(["profile", "remove", "acme"])).code).toBe(0);
    expect((await cli.run(["me", "--profile", "acme"])).code).toBe(2);
  });

  it("that others can read are refused", async () => {
    const cli = createRunner(service.url);
    mkdirSync(dirname(cli.config), { recursive: true });
    writeFileSync(cli.config, JSON.stringify({ profiles: {} }));
    chmodSync(cli.config, 0o640);
    const { code, err } = await cli.run(["me"]);
    expect({ code, err }).toEqual({
      code: 2,
      err: `bursar: The permissions 0640 of ${cli.config} are too open: other accounts can read its secrets. Run \`chmod 600 ${cli.config}\`.\n`,
    });
    chmodSync(cli.config, 0o600);
    expect((await cli.run(["me"])).code).toBe(0);
    writeFileSync(cli.config, "[");
    expect((await cli.run(["me"])).err).toMatch(/is not a file of profiles/);
  });

  it("that are added later do not replace the chosen default, nor a profile of the same name", async () => {
    const cli = createRunner(service.url);
    const env = { BURSAR_CLIENT_SECRET: secret };
    const add = (...more: string[]) => ["profile", "add", "live", "https://pay.example", ...more];
    expect((await cli.run(["profile", "use", "sandbox"])).code).toBe(0);
    const added = await cli.run(add("cli_live"), { env });
    expect(added).toMatchObject({ code: 0, err: expect.stringContaining("the default is sandbox.") });
    expect((await cli.run(["me"])).code).toBe(0);
    expect(asked.at(-1)).toContain("client_id=cli_sandbox");
    expect(await cli.run(add("cli_other"), { env })).toMatchObject({
      code: 2,
      err: "bursar: The profile live is cli_live at https://pay.example. --replace replaces it.\n",
    });
    const declined = await cli.run(add("cli_other"), { env, terminal: true, answers: ["n"] });
    expect(declined).toMatchObject({ code: 1, prompts: [{ hidden: false }] });
    expect((await cli.run(["profile", "list"])).out).toContain("\tcli_live\t");
    expect((await cli.run(add("cli_other", "--replace"), { env })).code).toBe(0);
    expect((await cli.run(["profile", "list"])).out).toContain("\tcli_other\t");
    await cli.run(["profile", "use", "live"]);
    const removed = await cli.run(["profile", "remove", "live"]);
    expect(removed.err).toBe("live is removed. The sandbox is the default now.\n");
  });

  it.each(["https://user:pw@pay.example", "https://pw@pay.example", "ftp://pay.example", "pay.example"])(
    "the address %s is refused, and no password is shown",
    async (url) => {
      const cli = createRunner(service.url);
      const env = { BURSAR_CLIENT_SECRET: secret, BURSAR_CLIENT_ID: "cli_1" };
      for (const ran of [
        await cli.run(["profile", "add", "cred", url, "cli_1"], { env }),
        await cli.run(["me", "--url", url, "--client-id", "cli_1"], { env }),
        await cli.run(["me"], { env: { ...env, BURSAR_URL: url } }),
      ]) {
        expect(ran.code).toBe(2);
        expect(ran.out + ran.err).not.toContain("pw");
      }
    },
  );

  it("a private key that others can read is refused, when it is stored and when it is used", async () => {
    const cli = createRunner(service.url);
    const file = join(cli.folder, "key.pem");
    writeFileSync(file, "a key");
    const add = (path: string) =>
      cli.run(["profile", "add", "signed", service.url, "cli_1", "--key-id", "key_1", "--key-file", path]);
    chmodSync(file, 0o644);
    expect(await add(file)).toMatchObject({ code: 2, err: expect.stringContaining("are too open") });
    chmodSync(file, 0o600);
    expect((await add(file)).code).toBe(0);
    chmodSync(file, 0o640);
    expect(await cli.run(["me", "--profile", "signed"])).toMatchObject({
      code: 2,
      err: expect.stringMatching(/The permissions 0640 of .*key\.pem are too open/),
    });
    expect((await add(cli.folder)).err).toMatch(/is not a file/);
    expect((await add(join(cli.folder, "none"))).err).toMatch(/There is no file/);
  });

  it("the file of a folder cannot send the sandbox's requests to another machine", async () => {
    for (const url of ["https://evil.example", "http://127.0.0.1.evil.example:8080", "nonsense"]) {
      const { code, err } = await createRunner(url).run(["me"]);
      expect({ url, code, err }).toEqual({
        url,
        code: 2,
        err: expect.stringContaining("not on this machine"),
      });
    }
  });

  it.each(["{", "null", '{"url":1}', '{"url":"http://127.0.0.1:1025"}'])(
    "the sandbox's file %s is explained in one sentence",
    async (content) => {
      const cli = createRunner(service.url);
      writeFileSync(join(cli.folder, "data", "credentials.json"), content);
      const { code, err } = await cli.run(["token"]);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringMatching(
          /^bursar: .*credentials\.json does not contain sandbox credentials\. .*\n$/,
        ),
      });
    },
  );

  it("a name that every object has is no profile", async () => {
    const cli = createRunner(service.url);
    for (const name of ["__proto__", "constructor"]) {
      const used = await cli.run(["me", "--profile", name]);
      expect(used).toMatchObject({ code: 2, err: expect.stringContaining(`There is no profile ${name} in`) });
      expect((await cli.run(["profile", "use", name])).code).toBe(2);
    }
  });

  it("a script names the service by its environment, and is never prompted", async () => {
    const cli = createRunner("http://127.0.0.1:1025");
    const env = { BURSAR_URL: service.url, BURSAR_CLIENT_ID: "cli_1" };
    expect(await cli.run(["me"], { env })).toMatchObject({
      code: 2,
      err: "bursar: Set BURSAR_CLIENT_SECRET, or run this on a terminal to be prompted for the secret.\n",
    });
    expect((await cli.run(["me"], { env: { ...env, BURSAR_CLIENT_SECRET: secret } })).code).toBe(0);
    expect((await cli.run(["token"], { env: { BURSAR_URL: service.url, BURSAR_TOKEN: "mine" } })).out).toBe(
      "mine\n",
    );
    const typed = await cli.run(["me", "--url", service.url, "--client-id", "cli_1"], {
      terminal: true,
      answers: ["bsk_2"],
    });
    expect(typed).toMatchObject({ code: 0, prompts: [{ hidden: true }] });
    const scoped = await cli.run(["token", "--scope", "a", "b"], {
      env: { ...env, BURSAR_CLIENT_SECRET: secret },
    });
    expect(scoped.code).toBe(0);
    expect(asked.at(-1)).toContain("scope=a+b");
  });
});
