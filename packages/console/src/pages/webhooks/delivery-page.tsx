import type { WebhookAttempt, WebhookDelivery } from "@bursar/client";
import { Link, useNavigate, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { bursar } from "../../api/bursar";
import { useAction } from "../../api/use-action";
import { ActionButton } from "../../ui/forms/action-button";
import { Curl } from "../../ui/panels/curl";
import { Fact, FactsCard, IdFact, StateFact, TimeFact } from "../../ui/panels/facts";
import { ObjectPage } from "../../ui/panels/object-page";
import { Problem } from "../../ui/panels/problem";
import { jsonText, RawJson } from "../../ui/panels/raw-json";
import { CopyButton } from "../../ui/values/copy-button";
import { Countdown } from "../../ui/values/countdown";
import { Time } from "../../ui/values/time";
import { Answer } from "./answer";

/** A delivery with what every attempt has sent and what was answered. */
export function DeliveryPage() {
  const { id } = useParams({ from: "/deliveries/$id" });
  return (
    <ObjectPage
      title="Delivery"
      queryKey={["webhooks", "delivery", id]}
      read={(options) => bursar.webhookDeliveries.get(id, options)}
      refreshMs={(delivery) => (delivery?.state === "pending" ? 3000 : false)}
      actions={() => <Resend id={id} />}
    >
      {(delivery) => <Details delivery={delivery} />}
    </ObjectPage>
  );
}

function Resend({ id }: { id: string }) {
  const navigate = useNavigate();
  const [key, setKey] = useState(() => crypto.randomUUID());
  const resend = useAction({
    mutationFn: () => bursar.webhookDeliveries.resend(id, { idempotencyKey: key }),
    onSuccess: (made) => {
      setKey(crypto.randomUUID());
      void navigate({ to: "/deliveries/$id", params: { id: made.id } });
    },
  });
  return (
    <>
      {resend.error !== null && <Problem error={resend.error} />}
      <ActionButton isPending={resend.isPending} onAct={() => resend.mutate()}>
        Send again
      </ActionButton>
    </>
  );
}

function Details({ delivery }: { delivery: WebhookDelivery }) {
  const { id, endpoint_id, event, sequence, state, repeats, next_attempt_at, created_at, finished_at } =
    delivery;
  return (
    <div className="stack">
      <FactsCard>
        <StateFact state={state} />
        <IdFact id={id} />
        <Fact name="Event">
          {event}, sequence {sequence}
        </Fact>
        <Fact name="Endpoint">
          <Link to="/webhooks/$id" params={{ id: endpoint_id }}>
            {endpoint_id}
          </Link>
        </Fact>
        <Fact name="Sends again">
          {repeats !== null && (
            <Link to="/deliveries/$id" params={{ id: repeats }}>
              {repeats}
            </Link>
          )}
        </Fact>
        <Fact name="Next attempt">
          {next_attempt_at !== null && <Countdown until={next_attempt_at} isDeadline={false} />}
        </Fact>
        <TimeFact name="Created" at={created_at} />
        <TimeFact name="Finished" at={finished_at} />
      </FactsCard>
      <section className="stack" aria-labelledby="attempts">
        <h2 id="attempts">Attempts</h2>
        {delivery.attempts.length === 0 && <p className="quiet">None yet. The first one is due.</p>}
        {delivery.attempts.toReversed().map((attempt) => (
          <Attempt key={attempt.number} attempt={attempt} delivery={delivery} />
        ))}
      </section>
      <section className="stack" aria-labelledby="body">
        <h2 id="body">Body</h2>
        {delivery.request === null ? (
          <p className="quiet">Your role does not show events of this kind, or the log no longer has it.</p>
        ) : (
          <>
            <div className="row">
              <span className="quiet small">The same bytes at every attempt, laid out here for reading.</span>
              <CopyButton text={delivery.request.body} label="Copy the body as it was sent" />
            </div>
            <pre>{jsonText(JSON.parse(delivery.request.body))}</pre>
          </>
        )}
      </section>
      <RawJson value={delivery} />
      <Curl method="GET" path={`/v1/webhook-deliveries/${id}`} />
    </div>
  );
}

function Attempt({ attempt, delivery }: { attempt: WebhookAttempt; delivery: WebhookDelivery }) {
  const { number, at, status, latency_ms, error, answer } = attempt;
  const isGood = status !== null && status >= 200 && status < 300;
  const isLast = number === delivery.attempts.length;
  return (
    <details className="card" open={isLast}>
      <summary>
        <strong>Attempt {number}</strong>{" "}
        <span className="badge" data-tone={isGood ? "good" : "bad"}>
          {status ?? "no answer"}
        </span>{" "}
        <span className="quiet">
          <Time at={at} />, {latency_ms} ms
        </span>
      </summary>
      <div className="columns">
        <div className="stack">
          <h3>Request</h3>
          {delivery.request === null ? (
            <p className="quiet">Not shown.</p>
          ) : (
            <pre>
              {`${delivery.request.method}\n`}
              {headersOf(delivery.request.headers, attempt, isLast)
                .map(([name, value]) => `${name}: ${value}`)
                .join("\n")}
            </pre>
          )}
          <p className="quiet small">
            Signatures are not shown: with them, a reader could repeat the request to the receiver.
          </p>
        </div>
        <div className="stack">
          <h3>Answer</h3>
          <Answer error={error} answer={answer} />
          {answer === "" && <p className="quiet">The answer had no body.</p>}
        </div>
      </div>
    </details>
  );
}

/** The service shows the headers of the last attempt. Earlier ones had their own number and time. */
function headersOf(
  headers: Readonly<Record<string, string>>,
  { number, at }: WebhookAttempt,
  isLast: boolean,
): [string, string][] {
  const own: Readonly<Record<string, string>> = {
    ...headers,
    "webhook-attempt": `${number}`,
    "webhook-timestamp": `${Math.floor(Date.parse(at) / 1000)}`,
  };
  return Object.entries(own).filter(([name]) => isLast || name !== "traceparent");
}
