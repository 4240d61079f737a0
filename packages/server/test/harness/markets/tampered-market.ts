import { readId } from "@bursar/protocol";
import { listFailures, retryFailures } from "../../../src/store/core/rows/failures.js";
import { sql } from "../../../src/store/core/sql.js";
import { orderFailures } from "../../../src/store/markets/claim-orders.js";
import type { ServiceRole } from "../database/service-role.js";
import { eventually } from "../eventually.js";
import type { InspectableService } from "../service/test-service.js";

const market = "ETH-USD";

/** What a writer to the database does around a market, and what an operator sees of its orders. */
export function tamperedMarket(service: Pick<InspectableService, "database">, role: ServiceRole) {
  const fenceOf = async () =>
    (
      await service.database.query<{ fence: string }>(sql`SELECT fence FROM markets WHERE market = ${market}`)
    )[0]?.fence;
  /** Takes the market's lease from the service. */
  const pause = () =>
    role.run(`UPDATE markets SET holder = gen_random_uuid(), fence = fence + 1, expires_at = now() + interval '4 minutes'
      WHERE market = '${market}'`);
  /** Lets the service have the lease again, which restores the book. */
  const resume = async () => {
    const taken = await fenceOf();
    await role.run(`UPDATE markets SET expires_at = '-infinity' WHERE market = '${market}'`);
    await eventually(fenceOf, (fence) => fence !== taken);
  };
  return {
    pause,
    resume,
    reload: async () => {
      await pause();
      await resume();
    },
    isListed: async (id: string) =>
      (await listFailures(service.database, orderFailures, 100)).some((row) => row.id === readId("ord", id)),
    retry: (id: string) =>
      retryFailures(service.database, orderFailures, readId("ord", id) ?? "", new Date()),
  };
}
