import { type Bursar, type BursarOptions, createBursar, type Me } from "@bursar/client";
import { PatientSocket } from "../live/patient-socket";
import { isPersonOfPage, noteSession } from "../session/current-session";
import { createTokenGate, type TokenGate } from "../session/token-gate";
import { type Confirming, confirmWithPasskey } from "./confirm-with-passkey";
import { queries } from "./queries";
import { createQuotaNotes, type QuotaNotes } from "./quota-notes";
import { serviceClock } from "./service-clock";

const sessionPath = "/console/session";

/** What the last responses have said about the quotas of the person. */
export const quotas: QuotaNotes = createQuotaNotes(() => performance.now());

/** Opened by a login. */
export const tokenGate: TokenGate = createTokenGate(() => performance.now());

/** The cookie of the session is sent only to the routes that read it. */
const fetchWithSession: NonNullable<BursarOptions["fetch"]> = async (url, init) => {
  const { pathname } = new URL(url);
  const isSession = pathname === sessionPath || pathname.startsWith(`${sessionPath}/`);
  const response = await fetch(url, isSession ? { ...init, credentials: "same-origin" } : init);
  quotas.note(response.headers);
  serviceClock.note(response.headers);
  return response;
};

/**
 * The client of this page. Its tokens last five minutes, are kept in memory alone, and come from the session's cookie. A call that a person
 * has to confirm asks for the passkey by itself.
 */
export let bursar: Bursar = connect();

/** A client keeps its token for as long as it is valid: another one has none. */
export function forgetToken(): void {
  bursar = connect();
}

function connect(): Bursar {
  return createBursar({
    baseUrl: location.origin,
    fetch: fetchWithSession,
    WebSocket: PatientSocket,
    confirm: (request) => confirmWithPasskey(request, whoConfirms),
    credentials: async () => {
      const { access_token, expires_in, session, person } = await tokenGate.ask(() =>
        bursar.consoleSession.token(),
      );
      if (!isPersonOfPage(person.id)) return await beginAgain();
      noteSession(session);
      return { token: access_token, expiresInSeconds: expires_in };
    },
  });
}

/**
 * A page belongs to one person for as long as it is open, and has read who that is. To read it here would delay the question for the
 * passkey, and a lost answer would look like that of what is confirmed.
 */
async function whoConfirms(): Promise<Confirming> {
  const { tenant, client } = queries.getQueryData<Me>(["me"]) ?? (await bursar.me.get());
  return { tenantId: tenant.id, personId: client.id };
}

/** The page becomes that of the person who is logged in now. What waits for a token is not sent. Drafts are kept for their own person. */
function beginAgain(): Promise<never> {
  location.reload();
  return new Promise(() => undefined);
}
