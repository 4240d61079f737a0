import { createServer, type Server } from "node:https";
import type { TestAuthority } from "./test-certificates.js";

/** How often a client has agreed to a handshake that takes long, and how often one found nothing in common. */
export interface Handshakes {
  made: number;
  refused: number;
}

/** A server that offers nothing but Diffie-Hellman in a group of 10,000 bits. It computes as long as its client, if that agrees. */
export function createLongHandshakes(
  authority: TestAuthority,
  names: string[],
): { server: Server; handshakes: Handshakes } {
  const handshakes = { made: 0, refused: 0 };
  const server = createServer(
    {
      ...authority.issue({ names, isRsa: true }),
      maxVersion: "TLSv1.2",
      ciphers: "DHE-RSA-AES128-GCM-SHA256",
      dhparam: longGroup(),
    },
    (_request, response) => response.end(),
  );
  server.on("secureConnection", () => {
    handshakes.made += 1;
  });
  server.on("tlsClientError", () => {
    handshakes.refused += 1;
  });
  return { server, handshakes };
}

/** Nobody verifies that the number is a prime. */
function longGroup(): string {
  const bytes = Buffer.alloc(1251, 0xff);
  bytes[0] = 0;
  const prime = Buffer.concat([header(0x02, bytes.length), bytes]);
  const generator = Buffer.from([0x02, 0x01, 0x02]);
  const length = prime.length + generator.length;
  const base64 = Buffer.concat([header(0x30, length), prime, generator]).toString("base64");
  return `-----BEGIN DH PARAMETERS-----\n${base64.match(/.{1,64}/g)?.join("\n")}\n-----END DH PARAMETERS-----\n`;
}

function header(tag: number, length: number): Buffer {
  return Buffer.from([tag, 0x82, length >> 8, length & 0xff]);
}
