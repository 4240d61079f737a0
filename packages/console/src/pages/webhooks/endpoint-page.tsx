import type { WebhookEndpoint, WebhookEndpointStats } from "@bursar/client";
import { useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { serviceClock } from "../../api/service-clock";
import { BarChart, lastHours } from "../../ui/panels/bar-chart";
import { Curl } from "../../ui/panels/curl";
import { ClientFact, Fact, FactsCard, IdFact, StateFact, TextFact, TimeFact } from "../../ui/panels/facts";
import { boundedText, FigureCard } from "../../ui/panels/figure-card";
import { Loaded } from "../../ui/panels/loaded";
import { ObjectPage } from "../../ui/panels/object-page";
import { RawJson } from "../../ui/panels/raw-json";
import { Countdown } from "../../ui/values/countdown";
import { Time } from "../../ui/values/time";
import { Deliveries } from "./deliveries";
import { EndpointActions } from "./endpoint-actions";
import { healthOf, percentOf } from "./endpoint-health";
import { ResendDialog } from "./resend-dialog";
import { pageEveryMs, useStats } from "./use-stats";

export function EndpointPage() {
  const { id } = useParams({ from: "/webhooks/$id" });
  return (
    <ObjectPage
      title="Webhook endpoint"
      queryKey={["webhooks", "endpoint", id]}
      read={(options) => bursar.webhookEndpoints.get(id, options)}
      refreshMs={10_000}
      actions={(endpoint) => <EndpointActions endpoint={endpoint} />}
    >
      {(endpoint) => <Details endpoint={endpoint} />}
    </ObjectPage>
  );
}

function Details({ endpoint }: { endpoint: WebhookEndpoint }) {
  const { id, url, description, events, verified_at, failing_since, disabled_at, disabled_reason } = endpoint;
  const stats = useStats(id, pageEveryMs);
  return (
    <div className="stack">
      <FactsCard>
        <TextFact name="URL" text={url} />
        <StateFact state={healthOf(endpoint)} />
        <TextFact name="Description" text={description} />
        <IdFact id={id} />
        <Fact name="Events">{events.includes("*") ? "all kinds" : events.join(", ")}</Fact>
        <Fact name="Verified">
          {verified_at === null ? (
            "not yet: the receiver must answer a challenge before anything is sent"
          ) : (
            <Time at={verified_at} long />
          )}
        </Fact>
        <TimeFact name="Failing since" at={failing_since} />
        <Fact name="Disabled">
          {disabled_reason !== null && (
            <>
              {disabled_at !== null && (
                <>
                  <Time at={disabled_at} long />,{" "}
                </>
              )}
              {reasons[disabled_reason]}
            </>
          )}
        </Fact>
        <Fact name="Old secret">
          {endpoint.old_secret_until !== null && (
            <>
              also signs for <Countdown until={endpoint.old_secret_until} />
            </>
          )}
        </Fact>
        <ClientFact name="Authority" id={endpoint.client_id} />
      </FactsCard>
      <Loaded query={stats}>
        {(found) => <Stats stats={found} asOfMs={stats.dataUpdatedAt} endpoint={endpoint} />}
      </Loaded>
      <section className="stack" aria-labelledby="deliveries">
        <h2 id="deliveries">Deliveries</h2>
        <Deliveries endpointId={id} />
      </section>
      <RawJson value={endpoint} />
      <Curl method="GET" path={`/v1/webhook-endpoints/${id}/stats`} />
    </div>
  );
}

const reasons = {
  requested: "by a person or a client",
  gone: "because the receiver answered 410",
  failing: "because nothing succeeded for five days",
  client_disabled:
    "because the client that it acts for is disabled. What is caused meanwhile waits until that client is enabled, or until somebody changes the endpoint so that it acts for them",
  tampered: "because it was changed in the database",
} as const;

interface StatsProps {
  stats: WebhookEndpointStats;
  /** When they were read. */
  asOfMs: number;
  endpoint: WebhookEndpoint;
}

function Stats({ stats, asOfMs, endpoint }: StatsProps) {
  const [isOpen, setOpen] = useState(false);
  const { success_rate, attempts, latency, pending, resendable } = stats;
  const rateTone = success_rate === null ? undefined : success_rate < 0.9 ? "bad" : "good";
  return (
    <section className="stack" aria-labelledby="health">
      <div className="row spread">
        <h2 id="health">Last 24 hours</h2>
        <button type="button" className="button" onClick={() => setOpen(true)}>
          Send again
        </button>
      </div>
      <p className="quiet small">
        As of <Time at={new Date(asOfMs).toISOString()} />. The deliveries below are shown as they happen, and
        can be ahead of these figures by {pageEveryMs / 1000} seconds.
      </p>
      <div className="cards">
        <FigureCard
          title="Delivered"
          tone={rateTone}
          figure={success_rate === null ? "-" : percentOf(success_rate)}
        >
          {success_rate === null ? "Nothing was sent." : `of ${attempts} attempts`}
        </FigureCard>
        <FigureCard title="Answers within" figure={latency === null ? "-" : `${latency.p50_ms} ms`}>
          {latency !== null && `95 % within ${latency.p95_ms} ms, the slowest took ${latency.max_ms} ms`}
        </FigureCard>
        <FigureCard
          title="Waiting"
          figure={boundedText(pending)}
          tone={pending.count > 0 && endpoint.failing_since !== null ? "wait" : undefined}
        >
          {pending.oldest_at !== null && (
            <>
              oldest from <Time at={pending.oldest_at} />
            </>
          )}
          {pending.next_attempt_at !== null && (
            <>
              , next attempt: <Countdown until={pending.next_attempt_at} isDeadline={false} />
            </>
          )}
        </FigureCard>
        <FigureCard
          title="Given up"
          figure={boundedText(resendable)}
          tone={resendable.count > 0 ? "bad" : undefined}
        >
          deliveries that were not sent again
        </FigureCard>
      </div>
      <BarChart
        title="Attempts by hour"
        bars={lastHours(stats.hours, 24, serviceClock.nowMs()).map(({ label, row }) => ({
          label,
          parts: [
            { name: "delivered", tone: "good", value: row?.delivered ?? 0 },
            { name: "failed", tone: "bad", value: (row?.attempts ?? 0) - (row?.delivered ?? 0) },
          ],
        }))}
      />
      {isOpen && (
        <ResendDialog endpointId={endpoint.id} resendable={resendable} onClose={() => setOpen(false)} />
      )}
    </section>
  );
}
