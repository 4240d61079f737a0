const utf8 = new TextEncoder();

export async function sha256(content: Uint8Array<ArrayBuffer> | string): Promise<Uint8Array> {
  const bytes = typeof content === "string" ? utf8.encode(content) : content;
  return new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
}

/** In hex. */
export async function sha256Hex(content: string): Promise<string> {
  return Array.from(await sha256(content), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
