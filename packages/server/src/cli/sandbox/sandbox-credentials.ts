import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { explainFileError, OperatorError } from "../../operator-error.js";

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
  const path = pathIn(resolve(dataDir));
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    const reason = explainFileError(cause)?.reason;
    throw new OperatorError(
      reason === undefined || !existsSync(path)
        ? `There are no sandbox credentials in ${dirname(path)}.`
        : `The sandbox credentials in ${path} cannot be read: ${reason}.`,
      { cause },
    );
  }
  const credentials = parseCredentials(text);
  if (credentials === undefined)
    throw new OperatorError(
      `${path} does not contain sandbox credentials. Remove the file and start the sandbox again, which creates new tenants.`,
    );
  return credentials;
}

function parseCredentials(text: string): SandboxCredentials | undefined {
  try {
    const credentials = JSON.parse(text) as Partial<SandboxCredentials> | null;
    if (typeof credentials?.url !== "string" || !Array.isArray(credentials.clients)) return undefined;
    return credentials as SandboxCredentials;
  } catch {
    return undefined;
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
