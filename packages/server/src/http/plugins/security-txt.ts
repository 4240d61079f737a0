import type { FastifyInstance } from "fastify";

export interface SecurityTxtOptions {
  /** `mailto:` or `https:`; by default the mailbox that RFC 2142 names, at the host of the public URL. */
  contact: string | undefined;
  /** When the text is to be read again; by default half a year from now. */
  expires: string | undefined;
  publicUrl: string;
  now: () => number;
}

const path = "/.well-known/security.txt";
const validityMs = 182 * 86_400_000;
const dayMs = 86_400_000;

/** Tells a finder of a vulnerability where to report it (RFC 9116). */
export function installSecurityTxt(app: FastifyInstance, options: SecurityTxtOptions): void {
  const { contact, expires, publicUrl, now } = options;
  app.get(path, (_request, reply) => {
    const until = expires ?? new Date(Math.floor((now() + validityMs) / dayMs) * dayMs).toISOString();
    const lines = [
      `Contact: ${contact ?? `mailto:security@${new URL(publicUrl).hostname}`}`,
      `Expires: ${until}`,
      "Preferred-Languages: en",
      `Canonical: ${publicUrl}${path}`,
    ];
    return reply.type("text/plain; charset=utf-8").send(`${lines.join("\n")}\n`);
  });
}
