import { createInterface } from "node:readline";
import type { Command } from "commander";
import { loadConfig } from "../config/load-config.js";
import { OperatorError } from "../operator-error.js";
import { readSandboxCredentials } from "./sandbox-credentials.js";

interface TokenOptions {
  url?: string;
  client?: string;
  clientId?: string;
  scope?: string[];
}

interface TokenRequest {
  url: string;
  clientId: string;
  secret: string;
}

const requestTimeoutMs = 10_000;

export function addTokenCommand(program: Command): void {
  program
    .command("token")
    .description(
      "print an access token: for the running sandbox, or for any server with --url and --client-id",
    )
    .option("--client <name>", "which of the sandbox's clients", "sandbox")
    .option("--scope <scopes...>", "what the token may do; all of the client's scopes where left out")
    .option("--url <url>", "another server; its secret comes from BURSAR_CLIENT_SECRET or a prompt")
    .option("--client-id <id>", "the client at that server")
    .action(async (options: TokenOptions) => {
      const request =
        options.url === undefined ? fromSandbox(options) : await fromOptions(options.url, options);
      console.log(await requestToken(request, options.scope));
    });
}

function fromSandbox({ client: name }: TokenOptions): TokenRequest {
  const { url, clients } = readSandboxCredentials(loadConfig(process.env).values.data_dir);
  const client = clients.find((candidate) => candidate.name === name);
  if (client === undefined) {
    const names = clients.map((candidate) => candidate.name).join(", ");
    throw new OperatorError(`The sandbox has no client ${name}; there are: ${names}.`);
  }
  return { url, clientId: client.client_id, secret: client.client_secret };
}

/** A secret never comes from an argument: those are seen by everybody on the machine. */
async function fromOptions(url: string, { clientId }: TokenOptions): Promise<TokenRequest> {
  if (clientId === undefined) throw new OperatorError("--url needs --client-id.");
  const secret = process.env["BURSAR_CLIENT_SECRET"] || (await askForSecret());
  return { url: url.replace(/\/+$/, ""), clientId, secret };
}

async function askForSecret(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new OperatorError(
      "Set BURSAR_CLIENT_SECRET, or run this on a terminal to be asked for the secret.",
    );
  process.stderr.write("Client secret: ");
  // The terminal is an output to readline; without one, nothing of what is typed is shown.
  const prompt = createInterface({ input: process.stdin, terminal: true });
  const secret = await new Promise<string>((resolve) => prompt.once("line", resolve));
  prompt.close();
  process.stderr.write("\n");
  return secret.trim();
}

async function requestToken(
  { url, clientId, secret }: TokenRequest,
  scope: string[] | undefined,
): Promise<string> {
  const form = new URLSearchParams({ grant_type: "client_credentials" });
  if (scope !== undefined) form.set("scope", scope.join(" "));
  const credentials = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(secret)}`).toString(
    "base64",
  );
  const response = await fetch(`${url}/oauth/token`, {
    method: "POST",
    headers: { authorization: `Basic ${credentials}` },
    body: form,
    signal: AbortSignal.timeout(requestTimeoutMs),
  }).catch((cause: unknown) => {
    throw new OperatorError(`${url} does not answer: is the service running?`, { cause });
  });
  const body = (await response.json().catch(() => ({}))) as {
    access_token?: string;
    error?: string;
    error_description?: string;
  };
  if (body.access_token === undefined) {
    throw new OperatorError(
      `${url} refused: ${body.error ?? response.status} ${body.error_description ?? ""}`.trim(),
    );
  }
  return body.access_token;
}
