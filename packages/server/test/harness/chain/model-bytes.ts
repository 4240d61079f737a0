import { createHash } from "node:crypto";
import type { SigningIntent } from "../../../src/app/chain/signer.js";

/** Bytes of this model are the intent itself. */
export function writeBytes(intent: SigningIntent): string {
  const text = JSON.stringify(intent, (_, value) => (typeof value === "bigint" ? `${value}n` : value));
  return `0x${Buffer.from(text).toString("hex")}`;
}

export function readBytes(bytes: string): SigningIntent {
  const text = Buffer.from(bytes.slice(2), "hex").toString();
  return JSON.parse(text, (_, value) =>
    typeof value === "string" && /^\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  );
}

export function hashOfBytes(bytes: string): string {
  return `0x${createHash("sha256").update(bytes).digest("hex")}`;
}

/** As the real one: the bytes must be exactly the intent. */
export function verifyModelBytes(intent: SigningIntent, bytes: string): string {
  if (bytes !== writeBytes(intent)) throw new Error("the bytes are not the intent");
  return hashOfBytes(bytes);
}
