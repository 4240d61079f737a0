import type { Command } from "commander";
import { describeAct, nilTenantId } from "../../app/audit/audit-entry.js";
import { rotateTokenKeys, scheduledTokenKeys, tokenKeyId } from "../../credentials/token-keys.js";
import { createAuditStore } from "../../store/access/audit.js";
import { createTokenKeyStore } from "../../store/access/tokens.js";
import { withDatabase } from "./operator-database.js";

export function addKeysCommand(program: Command): void {
  const keys = program.command("keys").description("list and rotate the keys that sign access tokens");
  keys
    .command("rotate")
    .description(
      "publish a new key, which starts to sign 30 seconds later; the old one is kept until its tokens have expired",
    )
    .action(async () => {
      const { added, removed } = await withDatabase(async ({ database, sealing, newUuid }) => {
        const rotated = await rotateTokenKeys(createTokenKeyStore(database), sealing, newUuid, Date.now);
        // The keys belong to no tenant.
        const origin = { by: "operator", tenantId: nilTenantId } as const;
        await createAuditStore(database).append([
          describeAct(origin, "keys.rotate", tokenKeyId(rotated.added.id), new Date()),
        ]);
        return rotated;
      });
      console.log(`${tokenKeyId(added.id)} is published and signs from ${added.activeFrom.toISOString()}`);
      for (const id of removed) console.log(`${tokenKeyId(id)} is removed`);
    });
  keys
    .command("list")
    .description("list the keys with the role of each")
    .action(async () => {
      const stored = await withDatabase(({ database }) => createTokenKeyStore(database).listTokenKeys());
      for (const { id, activeFrom, role } of scheduledTokenKeys(stored, Date.now())) {
        console.log(`${tokenKeyId(id)}  ${activeFrom.toISOString()}  ${role}`);
      }
    });
}
