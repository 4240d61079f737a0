import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../operator-error.js";

const keyLength = 32;

/** Reads the master key: 32 bytes, written in base64 or hexadecimal. */
export function readMasterKey(path: string): Uint8Array {
  let text: string;
  try {
    text = readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw new OperatorError(
      `The master key in ${path} cannot be read. Set BURSAR_MASTER_KEY_FILE to a readable file.`,
      { cause },
    );
  }
  const key = Buffer.from(text, /^[0-9a-fA-F]{64}$/.test(text) ? "hex" : "base64");
  if (key.length !== keyLength) {
    throw new OperatorError(
      `The master key in ${path} is not 32 bytes in base64 or hexadecimal. Generate one with \`openssl rand -base64 32\`.`,
    );
  }
  return key;
}

/** The sandbox creates its key at its first start. */
export function readOrCreateMasterKey(path: string): Uint8Array {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${randomBytes(keyLength).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readMasterKey(path);
}
