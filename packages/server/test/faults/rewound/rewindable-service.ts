import {
  type RewindablePostgres,
  startRewindablePostgres,
} from "../../harness/database/rewindable-postgres.js";
import { eventually } from "../../harness/eventually.js";
import { startTestService, type TestService } from "../../harness/service/test-service.js";

/** A service whose data folder is copied, goes on, and is then replaced by the copy: what came after the copy is lost. */
export interface RewindableService {
  postgres: RewindablePostgres;
  service: TestService;
  /** Waits until the service serves again. */
  untilServing: (one?: TestService) => Promise<unknown>;
  keep: () => Promise<void>;
  rewind: RewindablePostgres["rewind"];
  stop: () => Promise<void>;
}

export async function startRewindableService(name: string): Promise<RewindableService> {
  const postgres = await startRewindablePostgres(name);
  const shared = {
    database: postgres.database,
    masterKey: Buffer.alloc(32, 7),
    publicUrl: undefined,
  };
  const service = await startTestService({}, shared);
  const untilServing = (one = service) =>
    eventually(
      async () => (await one.call("GET", "/readyz", undefined)).status,
      (status) => status === 200,
    );
  return {
    postgres,
    service,
    untilServing,
    keep: async () => {
      await postgres.keep();
      await untilServing();
    },
    rewind: async (how) => {
      await postgres.rewind(how);
      await untilServing();
    },
    stop: async () => {
      await service.stop();
      await postgres.close();
    },
  };
}
