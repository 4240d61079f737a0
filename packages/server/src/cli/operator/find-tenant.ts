import { readId, showId } from "@bursar/protocol";
import type { Tenant } from "../../app/clients/create-tenant.js";
import { OperatorError } from "../../operator-error.js";
import { printable } from "../../runtime/printable.js";
import { createTenantStore } from "../../store/access/clients.js";
import type { Database } from "../../store/core/database.js";

/** Finds a tenant by its id or by its name, which need not be unique. */
export async function findTenant(database: Database, named: string): Promise<Tenant> {
  const tenants = await createTenantStore(database).listTenants();
  const id = readId("tnt", named);
  const found = tenants.filter((tenant) => (id === undefined ? tenant.name === named : tenant.id === id));
  const [only] = found;
  if (only === undefined) throw new OperatorError(`Tenant ${printable(named)} does not exist.`);
  if (found.length > 1) {
    const ids = found.map((tenant) => showId("tnt", tenant.id)).join(", ");
    throw new OperatorError(`${found.length} tenants are called ${printable(named)}. Use the id: ${ids}.`);
  }
  return only;
}
