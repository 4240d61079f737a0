import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { loadConfig } from "../../config/load-config.js";
import { OperatorError } from "../../operator-error.js";
import type { TokenRequest } from "./request-token.js";

/** The address of the sandbox, and its clients with their secrets. The file has mode 600. */
export interface SandboxCredentials {
  url: string;
  clients: SandboxClient[];
}

export interface SandboxClient {
  /** The name that selects it: `bursar token --client other`. */
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
      `There are no sandbox credentials in ${dataDir}. Start the sandbox with \`npm start\`, or name another server with --url and --client-id.`,
      { cause },
    );
  }
}

/** Replaces the file atomically, so that no reader sees half of it. */
export function writeSandboxCredentials(dataDir: string, credentials: SandboxCredentials): void {
  mkdirSync(dataDir, { recursive: true });
  const draft = `${pathIn(dataDir)}.${process.pid}`;
  writeFileSync(draft, `${JSON.stringify(credentials, null, 2)}\n`, { mode: 0o600 });
  renameSync(draft, pathIn(dataDir));
}

function pathIn(dataDir: string): string {
  return join(dataDir, "credentials.json");
}

/** The credentials of one of the sandbox's clients. */
export function sandboxClient(name: string): TokenRequest {
  const { url, clients } = readSandboxCredentials(loadConfig(process.env).values.data_dir);
  const client = clients.find((candidate) => candidate.name === name);
  if (client === undefined) {
    const names = clients.map((candidate) => candidate.name).join(", ");
    throw new OperatorError(`The sandbox has no client ${name}. Its clients are ${names}.`);
  }
  return { url, clientId: client.client_id, secret: client.client_secret };
}
