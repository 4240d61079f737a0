import type { Network } from "@bursar/client";
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { bursar } from "../../api/bursar";
import { Curl } from "../../ui/panels/curl";
import { Empty } from "../../ui/panels/empty";
import { Fact, Facts } from "../../ui/panels/facts";
import { Loaded } from "../../ui/panels/loaded";
import { PageHead } from "../../ui/panels/page-head";
import { RawJson } from "../../ui/panels/raw-json";
import { Amount } from "../../ui/values/amount";
import { ForeignText } from "../../ui/values/foreign-text";
import { StateBadge } from "../../ui/values/state-badge";
import { Time } from "../../ui/values/time";

const refreshMs = 5000;

export function NetworksPage() {
  const networks = useQuery({
    queryKey: ["networks"],
    queryFn: ({ signal }) => bursar.networks.list({ signal }),
    refetchInterval: refreshMs,
  });
  return (
    <>
      <PageHead title="Networks" />
      <Loaded query={networks}>
        {({ data }) => (
          <>
            {data.length === 0 && (
              <Empty title="No networks">
                Payments stay on the book. The operator configures networks, and docs/guides/chains.md says
                how.
              </Empty>
            )}
            {data.map((network) => (
              <NetworkCard key={network.id} network={network} />
            ))}
            <RawJson value={data} />
          </>
        )}
      </Loaded>
      <Curl method="GET" path="/v1/networks" />
    </>
  );
}

function NetworkCard({ network }: { network: Network }) {
  const {
    id,
    state,
    halted_reason,
    halted_at,
    head_block,
    final_block,
    settled_block,
    unreachable_since,
    stalled_since,
    stalled_reason,
  } = network;
  const unsettled = final_block === null || settled_block === null ? null : final_block - settled_block;
  return (
    <section className="card stack" aria-label={`Network ${id}`}>
      <div className="row spread">
        <h2>
          <code>{id}</code>
        </h2>
        <StateBadge state={state} />
      </div>
      {halted_reason !== null && (
        <div className="notice" data-tone="bad">
          <p>
            Nothing is sent or credited: <ForeignText text={halted_reason} />
          </p>
          <p className="small">
            The operator examines it and resumes the network with bursar network resume.
          </p>
        </div>
      )}
      {unreachable_since !== null && (
        <div className="notice" data-tone="bad">
          <p>
            No node has answered with a block since <Time at={unreachable_since} long />. Payments wait, and
            nothing is credited.
          </p>
          <p className="small">
            The operator looks at the nodes of the network. The log of the service says what each of them
            answers. Nothing has to be resumed: the service goes on when one answers.
          </p>
        </div>
      )}
      {stalled_since !== null && (
        <div className="notice" data-tone="bad">
          <p>
            Nothing was credited or completed since <Time at={stalled_since} long />:{" "}
            <ForeignText text={stalled_reason ?? "the log of the service says why"} />
          </p>
          <p className="small">
            The operator looks at the nodes that it names. Nothing has to be resumed: the service goes on when
            they agree.
          </p>
        </div>
      )}
      <Facts>
        <Fact name="Assets">{network.assets.join(", ")}</Fact>
        <Fact name="Last block">
          {head_block ?? "none yet"}{" "}
          <Note>the newest block that was read. It can still be replaced by another one.</Note>
        </Fact>
        <Fact name="Final block">
          {final_block ?? "none yet"}{" "}
          <Note>this block and those before it count as final ({finalityOf(network)}).</Note>
        </Fact>
        <Fact name="Settled to">
          {settled_block ?? "none yet"}
          {unsettled !== null && unsettled > 0 && <span className="quiet"> ({unsettled} behind)</span>}{" "}
          <Note>payments up to this block are completed, and deposits are credited.</Note>
        </Fact>
        <Fact name="Seen">{network.seen_at === null ? "never" : <Time at={network.seen_at} long />}</Fact>
        <Fact name="Halted">{halted_at !== null && <Time at={halted_at} long />}</Fact>
        <Fact name="Base fee">
          {network.base_fee_gwei !== null && <Amount value={network.base_fee_gwei} asset="gwei" />}
        </Fact>
        <Fact name="Fee cap">
          <Amount value={network.fee_cap_gwei} asset="gwei" />
        </Fact>
        <Fact name="Highest fee of a payment">
          <Amount value={network.fee_max} asset={network.coin} />
        </Fact>
      </Facts>
    </section>
  );
}

/** What a figure means, beside it. */
function Note({ children }: { children: ReactNode }) {
  return <span className="quiet small">{children}</span>;
}

/** The operator configures a tag of the chain, or a number of blocks. */
function finalityOf({ finality }: Network): string {
  return /^\d+$/.test(finality) ? `${finality} blocks later` : `as soon as the network calls it ${finality}`;
}
