import { hkdfSync, randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { OperatorError } from "../operator-error.js";
import { readPrivateFile } from "./private-file.js";

const keyLength = 32;
const keysMax = 8;

/** A key that seals the seed. The signer has it from a file that the service cannot read. */
export interface SealingKey {
  /**
   * 16 hexadecimal characters, derived from the key in the way in which the service names its master keys, so that the service
   * notices if both were given the same file.
   */
  readonly id: string;
  /** What encrypts: a key derived from the one in the file. */
  readonly encryption: Uint8Array;
}

/** Reads the keys, one a line, the current one first: 32 bytes each, in base64 or hexadecimal. */
export function readSealingKeys(path: string): readonly [SealingKey, ...SealingKey[]] {
  const lines = readPrivateFile(path, "the key of the signer")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  const materials = lines.map((line) => Buffer.from(line, /^[0-9a-fA-F]{64}$/.test(line) ? "hex" : "base64"));
  const [first, ...others] = materials.map(deriveSealingKey);
  if (
    first === undefined ||
    materials.length > keysMax ||
    materials.some(({ length }) => length !== keyLength)
  ) {
    throw new OperatorError(
      `The key in ${path} is not 32 bytes in base64 or hexadecimal. Generate one with \`openssl rand -base64 32\`. A file with several keys has one a line, at most ${keysMax}.`,
    );
  }
  return [first, ...others];
}

/** Creates the file, unless there is one. */
export function createKeyFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    writeFileSync(path, `${randomBytes(keyLength).toString("base64")}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function deriveSealingKey(material: Uint8Array): SealingKey {
  const expand = (label: string, length: number) =>
    new Uint8Array(hkdfSync("sha256", material, "", label, length));
  return {
    id: Buffer.from(expand("master key id", 8)).toString("hex"),
    encryption: expand("signer seed", keyLength),
  };
}
