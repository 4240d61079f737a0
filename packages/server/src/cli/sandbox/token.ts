import { createInterface } from "node:readline";
import type { Command } from "commander";
import { OperatorError } from "../../operator-error.js";
import { requestToken, type TokenRequest } from "./request-token.js";
import { sandboxClient } from "./sandbox-credentials.js";

interface TokenOptions {
  url?: string;
  client: string;
  clientId?: string;
  scope?: string[];
}

export function addTokenCommand(program: Command): void {
  program
    .command("token")
    .description(
      "print an access token: for the running sandbox, or for any server with --url and --client-id",
    )
    .option("--client <name>", "which of the sandbox's clients", "sandbox")
    .option("--scope <scopes...>", "the scopes of the token; all of the client's scopes by default")
    .option("--url <url>", "another server; its secret comes from BURSAR_CLIENT_SECRET or a prompt")
    .option("--client-id <id>", "the client at that server")
    .action(async (options: TokenOptions) => {
      const request =
        options.url === undefined ? sandboxClient(options.client) : await fromOptions(options.url, options);
      console.log(await requestToken(request, options.scope));
    });
}

/** A secret is never an argument, because every user of the machine can see those. */
async function fromOptions(url: string, { clientId }: TokenOptions): Promise<TokenRequest> {
  if (clientId === undefined) throw new OperatorError("--url requires --client-id.");
  const secret = process.env["BURSAR_CLIENT_SECRET"] || (await askForSecret());
  return { url: url.replace(/\/+$/, ""), clientId, secret };
}

async function askForSecret(): Promise<string> {
  if (!process.stdin.isTTY)
    throw new OperatorError(
      "Set BURSAR_CLIENT_SECRET, or run this on a terminal to be prompted for the secret.",
    );
  process.stderr.write("Client secret: ");
  // Without an output, readline does not echo what is typed.
  const prompt = createInterface({ input: process.stdin, terminal: true });
  const secret = await new Promise<string>((resolve) => prompt.once("line", resolve));
  prompt.close();
  process.stderr.write("\n");
  return secret.trim();
}
