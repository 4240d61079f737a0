import { execFile, spawn } from "node:child_process";
import { readFileSync, symlinkSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { operatorCommands } from "../../../cli/src/server/operator-commands.js";
import { blocksOf } from "../harness/document-blocks.js";
import { eventually } from "../harness/eventually.js";
import { runBursar } from "../harness/service/bursar-process.js";
import { startSandboxForFile } from "../harness/service/sandbox-commands.js";

const root = fileURLToPath(new URL("../../../../", import.meta.url));

describe("the command line of a checkout, beside a running sandbox", () => {
  const { dataDir, url } = startSandboxForFile("cli");
  const environment = () => ({
    PATH: `${join(dataDir, "..")}:${process.env["PATH"]}`,
    HOME: join(dataDir, ".."),
    BURSAR_DATA_DIR: dataDir,
    TERM: "xterm",
  });
  const shell = (script: string, env: Record<string, string> = {}) =>
    promisify(execFile)("sh", ["-ec", script], {
      cwd: join(dataDir, ".."),
      env: { ...environment(), ...env },
      timeout: 60_000,
    });
  const clientNamed = (name: string) => {
    const { clients } = JSON.parse(readFileSync(join(dataDir, "credentials.json"), "utf8")) as {
      clients: { name: string; client_id: string; client_secret: string }[];
    };
    return clients.find((client) => client.name === name);
  };

  it("runs every block of its README", async () => {
    symlinkSync(join(root, "bursar"), join(dataDir, "..", "bursar"));
    const blocks = blocksOf("packages/cli/README.md", "sh");
    const other = clientNamed("other");
    const env = { URL: url(), CLIENT_ID: other?.client_id ?? "", SECRET: other?.client_secret ?? "" };
    const printed = [];
    for (const block of blocks) printed.push((await shell(block, env)).stdout);
    const all = printed.join("");
    expect(all).toContain("state\tcompleted\n");
    expect(all).toMatch(/^acme\tyes\thttp:.*\tcli_\w+\tsecret$/m);
    expect(all).toContain("name other");
    expect(all).toMatch(/^ok {7}key of the data {4}the master key is that of the database$/m);
    expect(all).not.toContain("failed ");
    expect(all).not.toContain(other?.client_secret);
  });

  it("shows the whole story, and no secret", async () => {
    const { stdout } = await shell("bursar tour");
    expect(stdout).toContain("8. Everything is recorded");
    expect(stdout).toMatch(/> POST \/v1\/transactions \[Idempotency-Key: tour-/);
    expect(stdout).toContain("The policy is as it was.");
    expect(stdout).not.toContain(clientNamed("sandbox")?.client_secret);
  });

  it("is in colours on a terminal, where it asks before it pays", async () => {
    const typed = (answer: string, command: string) =>
      shell(`printf '${answer}' | script -qec "stty cols 200; ${command}" /dev/null`).catch(
        (error: { stdout: string }) => error,
      );
    const listed = await typed("", "bursar wallet list");
    expect(listed.stdout).toContain("\u001b[2mID\u001b[22m");
    expect(listed.stdout).toContain("\u001b[32mactive\u001b[39m");
    const { stdout } = await typed("n\\n", "bursar tx create 1 USD --reference asked");
    expect(stdout).toContain("Send 1 USD from the primary wallet to the settlement wallet");
    expect(stdout).toContain("Nothing was sent.");
    expect((await shell("bursar tx list --reference asked")).stdout).toBe("");
  });

  it.each([
    ["bursar orderbook ETH-USD --depth 2 --watch", /ETH-USD #\d+.*\[\d+A.\[J.*ETH-USD #\d+/s],
    ["bursar tx watch", /tx_\w{26} {2}\S*completed\S* {2}v2 {2}1 USD {2}watched/],
    [
      "bursar events tail --kinds transaction.updated",
      /#\d+ {2}transaction\.updated {2}tx_\w{26} .*completed/,
    ],
    ["bursar trades ETH-USD --watch", /#\d+ {2}(buy|sell) {2}\S+ {2}at \d/],
  ])("%s shows what happens on a terminal until Ctrl-C", async (command, shown) => {
    const watcher = spawn("script", ["-qec", `stty cols 100; exec ${command}`, "/dev/null"], {
      cwd: join(dataDir, ".."),
      env: environment(),
    });
    let output = "";
    watcher.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const exited = new Promise((resolve) => watcher.once("exit", resolve));
    // Something happens until it is seen: a watcher that has just connected sees what comes after it has subscribed.
    await eventually(
      async () => {
        await shell(
          "bursar order place buy ETH-USD --quote-size 100; bursar tx create 1 USD --reference watched --wait",
        );
        return output;
      },
      (text) => shown.test(text),
    );
    watcher.stdin.write("\u0003");
    expect(await exited).toBe(130);
    expect(output).not.toContain("    at ");
  });

  it.each([
    [
      "delivered by the service",
      [],
      /completed {2}v2 {2}#\d+ {2}attempt 1 {2}verified {2}answered 202 in \d+ ms {2}thanks/,
    ],
    [
      "followed and signed here",
      ["--follow"],
      /completed {2}v2 {2}#\d+ {2}signed here {2}answered 202 in \d+ ms {2}thanks/,
    ],
  ])("forwards webhooks that are %s, and shows the answer", async (_how, options, line) => {
    const server = createServer((request, response) => {
      request.resume().on("end", () => response.writeHead(202).end("thanks"));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const target = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    const args = ["webhooks", "listen", "--port", "0", "--forward-to", target, ...options];
    const listener = spawn(join(root, "bursar"), args, {
      env: environment(),
      stdio: ["ignore", "pipe", "pipe"],
    });
    let output = "";
    for (const stream of [listener.stdout, listener.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
    const exited = new Promise((resolve) => listener.once("exit", resolve));
    await eventually(
      async () => output,
      (text) => /Press Ctrl-C to stop/.test(text),
    );
    // A follower that has just connected sees what happens after it has subscribed, so it pays until one is seen.
    await eventually(
      async () => {
        await shell("bursar tx create 1 USD --reference listened --wait");
        return output;
      },
      (text) => line.test(text),
    );
    listener.kill("SIGINT");
    expect(await exited).toBe(130);
    expect(output).toMatch(/Deliveries are signed with whsec_\S+: give this secret to your receiver/);
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeAllConnections();
    });
    expect((await shell("bursar webhooks endpoints")).stdout).toBe("");
  });

  it("runs the commands of the operator, and lists those that the server has", async () => {
    expect((await shell("bursar tenant list")).stdout).toMatch(/ sandbox$/m);
    expect((await shell("bursar audit verify")).stdout).toContain("intact");
    expect((await shell("bursar help")).stdout).toContain("Commands of the operator");
    const namesOf = async (...args: string[]) => {
      const { output } = await runBursar([...args, "--help"], {});
      const names = [...output.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, name]) => name ?? "");
      return names.filter((name) => name !== "help").sort();
    };
    expect(await namesOf()).toEqual(operatorCommands.map(({ name }) => name).sort());
    for (const { name, words } of operatorCommands)
      if (words !== undefined) expect([name, await namesOf(name)]).toEqual([name, [...words].sort()]);
  });
});
