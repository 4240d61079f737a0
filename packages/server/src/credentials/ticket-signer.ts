import { createHmac, timingSafeEqual } from "node:crypto";
import type { TicketClaims, TicketSigner } from "../app/access/stream-tickets.js";
import type { Sealing } from "./sealing.js";

/** A ticket has two parts in base64url: its claims, and their HMAC-SHA256 with a key derived from the master key. */
export function createTicketSigner(sealing: Pick<Sealing, "deriveKey">): TicketSigner {
  const key = sealing.deriveKey("stream tickets");
  const mac = (body: string) => createHmac("sha256", key).update(body).digest();
  return {
    sign: (claims) => {
      const body = Buffer.from(JSON.stringify(claims)).toString("base64url");
      return `${body}.${mac(body).toString("base64url")}`;
    },
    verify: (ticket) => {
      const [body = "", signature = "", ...rest] = ticket.split(".");
      const given = Buffer.from(signature, "base64url");
      const expected = mac(body);
      if (rest.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected))
        return undefined;
      // Parsed only after the signature was verified.
      return JSON.parse(Buffer.from(body, "base64url").toString()) as TicketClaims;
    },
  };
}
