import { showId } from "@bursar/protocol";
import {
  type ChangeRequestService,
  createChangeRequestService,
} from "../app/change-requests/change-request-service.js";
import { createClientExecutors } from "../app/change-requests/client-executors.js";
import type { ClientAccessCache } from "../app/clients/client.js";
import { isEd25519PublicKey } from "../credentials/ed25519-point.js";
import { nodeTimers } from "../runtime/loops/timers.js";
import { createWakingLoop, type WakingLoop } from "../runtime/loops/waking-loop.js";
import { createChangeRequestStore } from "../store/access/change-requests/change-requests.js";
import { createClientStore } from "../store/access/clients.js";
import { createRoleStore } from "../store/access/people/roles.js";
import { requireKeys } from "../store/core/database.js";
import { createEventLog } from "../store/events/events.js";
import type { ComposeOptions } from "./compose.js";
import type { PolicyParts } from "./compose-policy.js";
import { createEvidenceBox } from "./evidence-box.js";
import { secretContexts } from "./secret-contexts.js";

export interface ChangeRequestParts {
  useCases: ChangeRequestService;
  /** Applies what was approved when its delay has passed, and expires what was not approved in time. */
  worker: Pick<WakingLoop, "start" | "stop">;
}

const intervalMs = 2000;

export function composeChangeRequests(
  { database, sealing, wakeUps, log, newUuid, now }: ComposeOptions,
  { clients: clientAccess }: { clients: ClientAccessCache },
  policyExecutors: PolicyParts["executors"],
): ChangeRequestParts {
  const { applyDue, ...useCases } = createChangeRequestService({
    store: createChangeRequestStore(database, createEventLog(wakeUps)),
    // A new kind of change has its executor here.
    executors: {
      ...createClientExecutors({
        clients: createClientStore(database),
        roles: createRoleStore(database),
        access: clientAccess,
        isPublicKey: isEd25519PublicKey,
        keys: requireKeys(database),
        newUuid,
        now,
      }),
      ...policyExecutors,
    },
    box: createEvidenceBox(sealing, now, secretContexts.changeDecision),
    onFailure: ({ tenantId, id }, error) =>
      log.error(
        { err: error, tenant_id: showId("tnt", tenantId), change_request_id: showId("chr", id) },
        "A change request could not be processed. It is tried again.",
      ),
    newUuid,
    now,
  });
  const worker = createWakingLoop({
    step: async () => ((await applyDue()) > 0 ? undefined : { pauseMs: intervalMs }),
    onError: (error) => log.error({ err: error }, "Due change requests could not be processed."),
    pauseAfterErrorMs: 5000,
    timers: nodeTimers,
  });
  return { useCases, worker };
}
