import type { WebhookEndpoint } from "@bursar/client";
import { type UseQueryResult, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { bursar } from "../../api/bursar";
import { useScopes } from "../../session/use-me";
import { ForeignText } from "../../ui/values/foreign-text";

type Endpoints = UseQueryResult<WebhookEndpoint[]>;

/** The endpoints that act for a client and get nothing while it is disabled, for those who may read them. */
export function useEndpointsOf(clientId: string, isAsked: boolean): Endpoints {
  return useQuery({
    queryKey: ["webhooks", "of-client", clientId],
    enabled: useScopes().includes("webhooks:manage") && isAsked,
    queryFn: async ({ signal }) => {
      const found: WebhookEndpoint[] = [];
      // A tenant has at most 500.
      for await (const endpoint of bursar.webhookEndpoints.list({ limit: 200 }, { signal }))
        if (endpoint.client_id === clientId && endpoint.state === "enabled") found.push(endpoint);
      return found;
    },
  });
}

/** Said before a client is disabled. */
export function StoppedEndpoints({ query: { data, isError, isLoading } }: { query: Endpoints }) {
  if (isLoading || data?.length === 0) return null;
  if (data === undefined)
    return (
      <p className={isError ? "notice" : undefined} data-tone="wait">
        Nothing is sent to webhook endpoints that act for it.{" "}
        {isError ? "They could not be read." : "Your role does not show them."}
      </p>
    );
  return (
    <div className="notice" data-tone="wait">
      <p>
        Nothing more is sent to {data.length === 1 ? "this endpoint" : `these ${data.length} endpoints`} until
        it is enabled again, or until somebody opens the endpoint and lets it act for another:
      </p>
      <ul>
        {data.map(({ id, url }) => (
          <li key={id}>
            <Link to="/webhooks/$id" params={{ id }}>
              <ForeignText text={url} limit={80} />
            </Link>
          </li>
        ))}
      </ul>
    </div>
  );
}
