import { secretContexts } from "../../../src/compose/secret-contexts.js";
import { createIntegrityKeys } from "../../../src/credentials/integrity-keys.js";
import { createKeyring } from "../../../src/credentials/keyring.js";
import { createReseal } from "../../../src/credentials/reseal.js";
import { createSealing } from "../../../src/credentials/sealing.js";
import { prepareIntegrity } from "../../../src/store/access/integrity.js";
import { resealSecrets } from "../../../src/store/access/reseal.js";
import { withKeys } from "../../../src/store/core/database.js";
import type { TestService } from "../service/test-service.js";

/** What `bursar keys reseal` does with a file that lists the new key before the old one. */
export async function reseal(
  { database, masterKey }: Pick<TestService, "database" | "masterKey">,
  newKey: Uint8Array,
) {
  const sealing = createSealing(createKeyring([newKey, masterKey]));
  const keys = createIntegrityKeys(sealing);
  const keyed = withKeys(database, keys);
  await prepareIntegrity(keyed, keys.retain, new Date());
  const { reseal: again, unreadable } = createReseal(sealing);
  return { ...(await resealSecrets(keyed, again, secretContexts, new Date())), unreadable };
}
