import { loadConfig } from "../config/load-config.js";
import { OperatorError } from "../operator-error.js";
import type { TokenRequest } from "./request-token.js";
import { readSandboxCredentials } from "./sandbox-credentials.js";

/** How one of the sandbox's clients asks for a token. */
export function sandboxClient(name: string): TokenRequest {
  const { url, clients } = readSandboxCredentials(loadConfig(process.env).values.data_dir);
  const client = clients.find((candidate) => candidate.name === name);
  if (client === undefined) {
    const names = clients.map((candidate) => candidate.name).join(", ");
    throw new OperatorError(`The sandbox has no client ${name}; there are: ${names}.`);
  }
  return { url, clientId: client.client_id, secret: client.client_secret };
}
