import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../operator-error.js";
import { createKeyring, type Keyring } from "./keyring.js";

const keyLength = 32;
const keysMax = 8;
const fileBytesMax = 4096;

/** Reads the master keys, one a line, the current one first: 32 bytes each, in base64 or hexadecimal. */
export function readMasterKeys(path: string): Keyring {
  const lines = readPrivately(path)
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const keys = lines.map((line) => Buffer.from(line, /^[0-9a-fA-F]{64}$/.test(line) ? "hex" : "base64"));
  if (keys.length === 0 || keys.length > keysMax || keys.some(({ length }) => length !== keyLength)) {
    throw new OperatorError(
      `The master key in ${path} is not 32 bytes in base64 or hexadecimal. Generate one with \`openssl rand -base64 32\`. A file with several keys has one a line, at most ${keysMax}.`,
    );
  }
  const keyring = createKeyring(keys);
  if (new Set(keyring.all.map(({ id }) => id)).size < keys.length)
    throw new OperatorError(`The file ${path} contains the same master key twice. Remove one of the lines.`);
  return keyring;
}

/** The sandbox creates its key at its first start. */
export function readOrCreateMasterKeys(path: string): Keyring {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${randomBytes(keyLength).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readMasterKeys(path);
}

/** The mode is that of the file that is read, even if its name is replaced meanwhile. */
function readPrivately(path: string): string {
  let file: number | undefined;
  try {
    file = openSync(path, "r");
    const { mode, uid, size } = fstatSync(file);
    refuseReadableByOthers(path, mode, uid);
    if (size > fileBytesMax) throw new OperatorError(`${path} is too large for a file of master keys.`);
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (cause instanceof OperatorError) throw cause;
    throw new OperatorError(
      `The master key in ${path} cannot be read. Set BURSAR_MASTER_KEY_FILE to a readable file.`,
      { cause },
    );
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * As ssh does: nobody but the owner may have access. A file of another owner may have a group, because that is how an orchestrator
 * mounts a secret for a service that does not own it. Windows has no such modes.
 */
function refuseReadableByOthers(path: string, mode: number, uid: number): void {
  if (process.platform === "win32") return;
  const forbidden = uid === process.getuid?.() ? 0o077 : 0o007;
  if ((mode & forbidden) === 0) return;
  const shown = (mode & 0o777).toString(8).padStart(4, "0");
  throw new OperatorError(
    `The permissions ${shown} of the master key file ${path} are too open: other accounts can access it. Run \`chmod 600 ${path}\`.`,
  );
}
