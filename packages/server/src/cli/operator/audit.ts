import { feeTenantId } from "@bursar/domain";
import { showId } from "@bursar/protocol";
import type { Command } from "commander";
import { verifyAudit } from "../../app/audit/audit-chain.js";
import { nilTenantId } from "../../app/audit/audit-entry.js";
import { OperatorError } from "../../operator-error.js";
import { createAuditStore } from "../../store/access/audit.js";
import { createTenantStore } from "../../store/access/clients.js";
import { auditLedger } from "../../store/ledger/audit-ledger.js";
import { withDatabase } from "./operator-database.js";

export function addAuditCommand(program: Command): void {
  const audit = program.command("audit").description("check the audit log and the ledger");
  audit
    .command("ledger")
    .description("check the ledger: sums, balances, holds, sequences")
    .action(async () => {
      const verdicts = await withDatabase(({ database }) => auditLedger(database));
      for (const { what, violations } of verdicts) {
        console.log(`${violations.length === 0 ? "holds    " : "VIOLATED "} ${what}`);
        for (const violation of violations) console.log(`          ${JSON.stringify(violation)}`);
      }
      if (verdicts.some(({ violations }) => violations.length > 0))
        throw new OperatorError("The ledger violates the rules above.");
    });
  audit
    .command("verify")
    .description(
      "verify every tenant's hash chain of audit entries; finds entries that were changed or removed",
    )
    .action(async () => {
      const verdicts = await withDatabase(async ({ database, parts: { keys } }) => {
        const tenants = await createTenantStore(database).listTenants();
        return await verifyAudit({
          store: createAuditStore(database),
          keys,
          // A migration creates the fee tenant, and migrations write no audit entries.
          tenantIds: tenants.map(({ id }) => id).filter((id) => id !== feeTenantId),
        });
      });
      for (const { tenantId, entries, fault, head } of verdicts) {
        const name = tenantId === nilTenantId ? "(no tenant)" : showId("tnt", tenantId);
        console.log(`${name}  ${entries} entries  ${fault ?? `intact  ${head}`}`);
      }
      if (verdicts.some(({ fault }) => fault !== undefined))
        throw new OperatorError("The audit log has been tampered with.");
    });
}
