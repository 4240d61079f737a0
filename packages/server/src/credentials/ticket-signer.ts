import type { TicketClaims, TicketSigner } from "../app/access/stream-tickets.js";
import type { Sealing } from "./sealing.js";

const context = "stream ticket";

/** A ticket is its claims, encrypted and authenticated: a URL can end up in logs, and the ids in it are nobody else's business. */
export function createTicketSigner(sealing: Pick<Sealing, "seal" | "open">): TicketSigner {
  return {
    sign: (claims) =>
      Buffer.from(sealing.seal(context, Buffer.from(JSON.stringify(claims)))).toString("base64url"),
    verify: (ticket) => {
      const opened = sealing.open(context, Buffer.from(ticket, "base64url"));
      return opened && (JSON.parse(Buffer.from(opened).toString()) as TicketClaims);
    },
  };
}
