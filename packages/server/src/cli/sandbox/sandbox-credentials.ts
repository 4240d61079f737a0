import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../config/load-config.js";
import { OperatorError } from "../../operator-error.js";
import type { TokenRequest } from "./request-token.js";

/** What the sandbox has made for trying things out: where it is, and clients with their secrets. Mode 600. */
export interface SandboxCredentials {
  url: string;
  clients: SandboxClient[];
}

export interface SandboxClient {
  /** The name to choose it by: `bursar token --client other`. */
  name: string;
  tenant_id: string;
  client_id: string;
  client_secret: string;
}

export function hasSandboxCredentials(dataDir: string): boolean {
  return existsSync(pathIn(dataDir));
}

export function readSandboxCredentials(dataDir: string): SandboxCredentials {
  try {
    return JSON.parse(readFileSync(pathIn(dataDir), "utf8")) as SandboxCredentials;
  } catch (cause) {
    throw new OperatorError(
      `There are no sandbox credentials in ${dataDir}: start the sandbox with \`npm start\`. (\`bursar token\` can name another server with --url and --client-id.)`,
      { cause },
    );
  }
}

/** Replaced as a whole, so that nobody reads half of it. */
export function writeSandboxCredentials(dataDir: string, credentials: SandboxCredentials): void {
  mkdirSync(dataDir, { recursive: true });
  const draft = `${pathIn(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, pathIn(dataDir));
}

function pathIn(dataDir: string): string {
  return join(dataDir, "credentials.json");
}

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
