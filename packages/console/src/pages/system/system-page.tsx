import type { System } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import { bursar } from "../../api/bursar";
import { Fact, Facts } from "../../ui/panels/facts";
import { boundedText, FigureCard } from "../../ui/panels/figure-card";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import { RawJson } from "../../ui/panels/raw-json";
import { SimpleTable } from "../../ui/tables/simple-table";
import { CopyButton } from "../../ui/values/copy-button";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";
import { Failures } from "./failures";
import { Holder, NotReady, processState } from "./process-state";

/** How the service is doing: what waits, what has failed, and what it runs on. */
export function SystemPage() {
  const system = useQuery({
    queryKey: ["system"],
    queryFn: ({ signal }) => bursar.system.show({ signal }),
    refetchInterval: 5000,
  });
  return (
    <>
      <PageHead title="System">
        {system.data !== undefined && <StateBadge state={processState(system.data.process)} />}
      </PageHead>
      <Loaded query={system}>
        {(found) => (
          <div className="stack">
            <NotReady process={found.process} />
            <Queues system={found} />
            <Failures />
            <Parts system={found} />
            <Software system={found} />
            <RawJson value={found} />
          </div>
        )}
      </Loaded>
    </>
  );
}

function Queues({ system: { transactions, deliveries, reader } }: { system: System }) {
  const { accepted, awaiting_approval, on_rails } = transactions;
  const { pending, failing_endpoints, disabled_endpoints, deferred_events } = deliveries;
  return (
    <section className="stack" aria-labelledby="queues">
      <h2 id="queues">What waits, of this tenant</h2>
      <div className="cards">
        <FigureCard title="To be judged" figure={boundedText(accepted)}>
          <Oldest at={accepted.oldest_at} none="The engine is done." />
        </FigureCard>
        <FigureCard title="For approval" figure={boundedText(awaiting_approval)}>
          payments that people decide about
        </FigureCard>
        <FigureCard title="With a network" figure={on_rails}>
          payments that are sent and not final
        </FigureCard>
        <FigureCard
          title="Deliveries"
          figure={boundedText(pending)}
          tone={failing_endpoints + disabled_endpoints > 0 ? "wait" : undefined}
        >
          <Oldest at={pending.oldest_at} none="Everything was sent." />
          {failing_endpoints > 0 && <div>Failing endpoints: {failing_endpoints}</div>}
          {disabled_endpoints > 0 && <div>Disabled by the service: {disabled_endpoints}</div>}
          {deferred_events > 0 && <div>Events whose deliveries are still written: {deferred_events}</div>}
        </FigureCard>
        <FigureCard
          title="Statements behind"
          figure={reader.events}
          tone={reader.seconds > 60 ? "wait" : undefined}
        >
          {reader.events === 0 ? "Sums and statements are current." : `events, for ${reader.seconds} s`}
        </FigureCard>
      </div>
    </section>
  );
}

function Oldest({ at, none }: { at: string | null; none: string }) {
  if (at === null) return none;
  return (
    <>
      oldest from <Time at={at} />
    </>
  );
}

function Parts({ system: { process, markets, networks, signer } }: { system: System }) {
  const rows: Part[] = [
    ...markets.map(({ market, state, holder }) => ({
      kind: "Market",
      name: market,
      state,
      since: null,
      holder,
    })),
    ...networks.map(({ network, state, unreachable_since: since }) => ({
      ...{ kind: "Network", name: network, state, since },
    })),
    ...(signer === null ? [] : [{ kind: "Signer", name: "signer", state: signer, since: null }]),
  ];
  return (
    <section className="stack" aria-labelledby="parts">
      <h2 id="parts">Markets and networks</h2>
      <SimpleTable
        caption="Markets and networks"
        keyOf={({ kind, name }) => `${kind} ${name}`}
        rows={rows}
        columns={[
          { title: "Name", cell: ({ name }) => name },
          { title: "Kind", cell: ({ kind }) => kind },
          { title: "State", cell: ({ state }) => <StateBadge state={state} /> },
          { title: "Run by", cell: ({ holder }) => <Holder holder={holder} own={process.id} /> },
          { title: "What to do", cell: (row) => <Advice {...row} /> },
        ]}
      />
    </section>
  );
}

interface Part {
  kind: string;
  name: string;
  state: string;
  since: string | null;
  holder?: System["markets"][number]["holder"];
}

function Advice({ kind, state, since }: { kind: string; state: string; since: string | null }) {
  if (since === null) return adviceOf(kind, state);
  return (
    <>
      No node has answered since <Time at={since} long />. The operator looks at its nodes.
    </>
  );
}

function adviceOf(kind: string, state: string): string {
  if (state === "halted")
    return `The operator finds the reason and ends the halt with bursar ${kind.toLowerCase()} resume.`;
  if (state === "waiting") return "No process runs it at the moment. One takes over within seconds.";
  if (state === "stalled")
    return "Nothing on it is credited or completed. The page of the networks says why, and the operator looks at its nodes.";
  if (state === "down") return "The operator starts the signer. Payments on chains wait until then.";
  return "";
}

function Software({ system: { version, schema_version, process, database, keys } }: { system: System }) {
  const { max, in_use, idle, waiting } = database.connections;
  return (
    <section className="stack" aria-labelledby="software">
      <h2 id="software">Software</h2>
      <div className="card">
        <Facts>
          <Fact name="Version">
            {version}, schema {schema_version}
          </Fact>
          <Fact name="This process">
            <span className="row">
              <code>{process.id}</code> <CopyButton text={process.id} label="Copy the id of the process" />
            </span>
          </Fact>
          <Fact name="Started">
            <Time at={process.started_at} long />
          </Fact>
          <Fact name="Connections">
            {in_use} of {max} to the database in use, {idle} idle
            {waiting > 0 && <span className="urgent">, {waiting} wait for one</span>}
          </Fact>
          <Fact name="Clock">
            {database.clock === "trusted" ? (
              "agrees with the database"
            ) : (
              <span className="urgent">
                differs from the database. The operator sets the machine's clock.
              </span>
            )}
          </Fact>
          <Fact name="Epoch">{database.epoch !== null && <code>{database.epoch}</code>}</Fact>
          <Fact name="Keys of tokens">
            <Ids of={keys.token} />
          </Fact>
          {keys.token_unreadable.length > 0 && (
            <Fact name="Keys of tokens that cannot be decrypted">
              <Ids of={keys.token_unreadable} />
            </Fact>
          )}
          <Fact name="Keys of the audit log">
            <Ids of={keys.audit} />
          </Fact>
        </Facts>
      </div>
    </section>
  );
}

function Ids({ of }: { of: readonly string[] }) {
  if (of.length === 0) return <span className="quiet">none</span>;
  return of.map((id) => (
    <div key={id}>
      <code>{id}</code>
    </div>
  ));
}
