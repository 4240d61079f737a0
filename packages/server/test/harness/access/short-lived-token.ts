import { createPrivateKey } from "node:crypto";
import { readId } from "@bursar/protocol";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { secretContexts } from "../../../src/compose/secret-contexts.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { sql } from "../../../src/store/core/sql.js";
import type { InspectableService } from "../service/test-service.js";

/** The same access token, but one that expires in a few seconds, so that a test can wait until it has. */
export async function shortLivedToken(
  { database, masterKey }: Pick<InspectableService, "database" | "masterKey">,
  token: string,
  lifetimeSeconds = 3,
): Promise<string> {
  const { alg = "", typ = "", kid = "" } = decodeProtectedHeader(token);
  const id = readId("key", kid);
  const [row] = await database.query<{ sealed: Buffer }>(
    sql`SELECT private_key AS sealed FROM token_keys WHERE id = ${id}`,
  );
  const sealing = createSealing(createKeyring([masterKey]));
  const key = row && sealing.open(secretContexts.tokenKey(id ?? ""), row.sealed);
  if (key === undefined) throw new Error("the key of the token cannot be opened");
  return await new SignJWT({ ...decodeJwt(token), exp: Math.floor(Date.now() / 1000) + lifetimeSeconds })
    .setProtectedHeader({ alg, typ, kid })
    .sign(createPrivateKey({ key: Buffer.from(key), format: "der", type: "pkcs8" }));
}
